import { sql } from "drizzle-orm";
import { pgTable, text, uuid } from "drizzle-orm/pg-core";

export const events = pgTable("events", {
  id: uuid("id").primaryKey().default(sql`gen_uuidv7()`),
  note: text("note").notNull(),
});
