-- The SQL that `prisma migrate` would write, after a statement for the extension.
CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE;
CREATE TABLE "events" (
    "id" UUID NOT NULL DEFAULT gen_uuidv7(),
    "note" TEXT NOT NULL,
    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);
