-- The SQL that `prisma migrate` would write, after a statement for the extension.
CREATE EXTENSION IF NOT EXISTS scru;
CREATE TABLE "orders" (
    "id" UUID NOT NULL DEFAULT (gen_scru128())::uuid,
    "note" TEXT,
    CONSTRAINT "orders_pkey" PRIMARY KEY ("id")
);
CREATE TABLE "items" (
    "id" UUID NOT NULL DEFAULT (gen_scru128())::uuid,
    "order_id" UUID NOT NULL,
    CONSTRAINT "items_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "items" ADD CONSTRAINT "items_order_id_fkey"
    FOREIGN KEY ("order_id") REFERENCES "orders"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
