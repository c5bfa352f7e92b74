import { sql } from "drizzle-orm";
import { customType, pgTable, text, uuid } from "drizzle-orm/pg-core";

const scru128 = customType({ dataType: () => "scru128" });
const ulid = customType({ dataType: () => "ulid" });

export const orders = pgTable("orders", {
  id: scru128("id").primaryKey().default(sql`gen_scru128()`),
  note: text("note"),
});

export const items = pgTable("items", {
  id: ulid("id").primaryKey().default(sql`gen_ulid()`),
  orderId: scru128("order_id").notNull().references(() => orders.id),
  others: scru128("others").array(),
});

export const events = pgTable("events", {
  id: uuid("id").primaryKey().default(sql`gen_uuidv7()`),
  note: text("note").notNull(),
});
