CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE;
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY DEFAULT gen_uuidv7() NOT NULL,
	"note" text NOT NULL
);
