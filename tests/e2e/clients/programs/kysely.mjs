// Kysely on a column of type uuid.
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
const after = process.env.AFTER;
const since = new Date("2026-11-01T00:00:00Z");
// block 1 of javascript.md#kysely
console.log("events", ...later.map(({ id }) => id));
console.log("feed", ...feed.map(({ id }) => id));
await db.schema.createTable("made")
  .addColumn("id", "uuid", (column) => column.primaryKey().defaultTo(sql`gen_uuidv7()`))
  .execute();
const { id } = await db.insertInto("events").values({ note: "made" }).returningAll().executeTakeFirstOrThrow();
console.log("event", id);
await db.destroy();
