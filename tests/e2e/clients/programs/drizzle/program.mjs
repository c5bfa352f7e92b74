// Drizzle on node-postgres, after `drizzle-kit migrate`. IDs are strings.

import { drizzle } from "drizzle-orm/node-postgres";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import pg from "pg";
import { items, orders } from "./schema.js";

const ids = process.argv.slice(2);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const db = drizzle(client);

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values.map((value) => value ?? "NULL"));
}

const [made] = await db.insert(orders).values({ note: "made" }).returning();
report("made", made.id);
await db.insert(orders).values(ids.map((id) => ({ id, note: "given" })));
const given = and(eq(orders.note, "given"), inArray(orders.id, ids));
const found = await db.select({ id: orders.id }).from(orders).where(given).orderBy(asc(orders.id));
report("found", ...found.map(({ id }) => id));
const since = new Date("2026-11-01T00:00:00Z");
const sinceThen = and(given, sql`${orders.id} >= ${since}::timestamptz`);
const foundByTime = await db.select({ id: orders.id }).from(orders).where(sinceThen).orderBy(asc(orders.id));
report("found_by_time", ...foundByTime.map(({ id }) => id));

const [item] = await db.insert(items).values({ orderId: made.id, others: ids }).returning();
report("item", item.id);
report("array", ...item.others);
const joined = await db.select({ note: orders.note }).from(items).innerJoin(orders, eq(items.orderId, orders.id));
report("joined", ...joined.map(({ note }) => note));

try {
  await db.insert(orders).values({ id: "!" });
} catch (error) {
  report("malformed", error.cause.code);
}
await client.end();
