// Drizzle on node-postgres. drizzle-kit generates migrations, which make the database match the schema.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { drizzle } from "drizzle-orm/node-postgres";
import { and, asc, eq, gt, gte, inArray, lt, sql } from "drizzle-orm";
import pg from "pg";
import { events, items, orders } from "./schema.js";

const kit = (...command) => {
  const printed = execFileSync(process.execPath, ["node_modules/drizzle-kit/bin.cjs", ...command], { encoding: "utf8" });
  if (printed.includes("rror")) throw new Error(printed);
  return printed;
};
kit("generate", "--custom", "--name=extension");
writeFileSync("migrations/0000_extension.sql", "CREATE EXTENSION IF NOT EXISTS scru;\nCREATE EXTENSION scru_uuidv7;\n");
kit("generate", "--name=tables");
kit("generate", "--custom", "--name=convert");
writeFileSync("migrations/0002_convert.sql", process.env.CONVERT);
kit("migrate");
if (!kit("push").includes("No changes detected")) throw new Error("the schema differs from the tables");

const ids = process.argv.slice(2);
const since = new Date("2026-11-01T00:00:00Z");
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const db = drizzle(client);
const report = (name, rows) => console.log(name, ...rows.map(({ id }) => id));

const made = await db.insert(orders).values({ note: "made" }).returning();
report("made", made);
await db.insert(orders).values(ids.map((id) => ({ id, note: "given" })));
report("found", await db.select().from(orders).where(inArray(orders.id, ids)).orderBy(asc(orders.id)));
// block 2 of javascript.md#drizzle
report("later", later);
const [item] = await db.insert(items).values({ orderId: made[0].id, others: ids }).returning();
console.log("array", ...item.others.sort());
report("joined", await db.select({ id: orders.note }).from(items).innerJoin(orders, eq(items.orderId, orders.id)));
try {
  await db.insert(orders).values({ id: "!" });
} catch (error) {
  console.log("malformed", error.cause.code);
}
const [{ id: after }] = await db.insert(events).values({ id: sql`gen_uuidv7('2025-01-01')`, note: "old" }).returning();
await db.insert(events).values({ note: "a" });
let read = [];
while (!read.length) {
  // block 3 of javascript.md#drizzle
  read = feed;
}
report("feed", read);
await client.end();
