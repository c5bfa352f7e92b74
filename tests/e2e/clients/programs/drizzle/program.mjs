// Drizzle on node-postgres, after `drizzle-kit migrate`. IDs are strings. `program.mjs orders ID…` uses columns of scru128,
// and `program.mjs events AFTER` a column of type uuid.

import { drizzle } from "drizzle-orm/node-postgres";
import { and, asc, eq, gt, inArray, lt, sql } from "drizzle-orm";
import pg from "pg";
import { events, items, orders } from "./schema.js";

const [command, ...ids] = process.argv.slice(2);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const db = drizzle(client);

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values.map((value) => value ?? "NULL"));
}

async function useOrders(ids) {
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
}

async function useEvents(after) {
  const readable = and(gt(events.id, after), lt(events.id, sql`uuidv7_horizon()`));
  const feed = await db.select().from(events).where(readable).orderBy(asc(events.id));
  report("feed", ...feed.map(({ id }) => id));

  const [made] = await db.insert(events).values({ note: "made" }).returning();
  report("made", made.id);

  const since = new Date(Date.now() - 3_600_000);
  const sinceThen = sql`${events.id} >= ${since}::timestamptz`;
  const lastHour = await db.select().from(events).where(sinceThen).orderBy(asc(events.id));
  report("found_by_time", ...lastHour.map(({ id }) => id));

  const columns = {
    createdAt: sql`uuidv7_timestamp(${events.id})`.mapWith((text) => new Date(text)),
    typeid: sql`uuidv7_prefixed('event', ${events.id})`,
  };
  const [{ createdAt, typeid }] = await db.select(columns).from(events).where(eq(events.id, made.id));
  report("created_at", createdAt.getTime());
  report("typeid", typeid);
}

await (command === "orders" ? useOrders(ids) : useEvents(ids[0]));
await client.end();
