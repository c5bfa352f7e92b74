import { sql } from "drizzle-orm";
import { customType, pgTable, text, uuid } from "drizzle-orm/pg-core";

// block 1 of javascript.md#drizzle

export const items = pgTable("items", {
  id: ulid("id").primaryKey().default(sql`gen_ulid()`),
  orderId: scru128("order_id").notNull().references(() => orders.id),
  others: scru128("others").array(),
});

export const events = pgTable("events", {
  id: uuid("id").primaryKey().default(sql`gen_uuidv7()`),
  note: text("note").notNull(),
});
