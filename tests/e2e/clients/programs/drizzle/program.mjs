// Drizzle on node-postgres, after `drizzle-kit migrate`. `program.mjs AFTER ID…`: AFTER is an ID of the events.
import { drizzle } from "drizzle-orm/node-postgres";
import { and, asc, eq, gt, gte, inArray, lt, sql } from "drizzle-orm";
import pg from "pg";
import { events, items, orders } from "./schema.js";

const [after, ...ids] = process.argv.slice(2);
const since = new Date("2026-11-01T00:00:00Z");
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const db = drizzle(client);
const report = (name, rows) => console.log(name, ...rows.map(({ id }) => id));

const made = await db.insert(orders).values({ note: "made" }).returning();
report("made", made);
await db.insert(orders).values(ids.map((id) => ({ id, note: "given" })));
report("found", await db.select().from(orders).where(inArray(orders.id, ids)).orderBy(asc(orders.id)));
{
  // block 2 of javascript.md#drizzle
  report("later", later);
}
const [item] = await db.insert(items).values({ orderId: made[0].id, others: ids }).returning();
console.log("array", ...item.others.sort());
const joined = await db.select({ id: orders.note }).from(items).innerJoin(orders, eq(items.orderId, orders.id));
report("joined", joined);
try {
  await db.insert(orders).values({ id: "!" });
} catch (error) {
  console.log("malformed", error.cause.code);
}
{
  // block 3 of javascript.md#drizzle
  report("feed", feed);
}
await client.end();
