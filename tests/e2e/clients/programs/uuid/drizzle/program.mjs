// Drizzle on a column of type uuid, after `drizzle-kit migrate`.

import { drizzle } from "drizzle-orm/node-postgres";
import { and, asc, eq, gt, lt, sql } from "drizzle-orm";
import pg from "pg";
import { events } from "./schema.js";

const [after] = process.argv.slice(2);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const db = drizzle(client);

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

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
await client.end();
