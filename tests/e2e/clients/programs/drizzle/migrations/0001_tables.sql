CREATE TABLE "items" (
	"id" "ulid" PRIMARY KEY DEFAULT gen_ulid() NOT NULL,
	"order_id" "scru128" NOT NULL,
	"others" "scru128"[]
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"id" "scru128" PRIMARY KEY DEFAULT gen_scru128() NOT NULL,
	"note" text
);
--> statement-breakpoint
ALTER TABLE "items" ADD CONSTRAINT "items_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;
