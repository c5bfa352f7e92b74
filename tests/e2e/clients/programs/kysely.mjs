// Kysely on a column of type uuid.
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
await sql`CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE`.execute(db);
await db.schema.createTable("events")
  .addColumn("id", "uuid", (column) => column.primaryKey().defaultTo(sql`gen_uuidv7()`))
  .addColumn("note", "text", (column) => column.notNull())
  .execute();
await sql`INSERT INTO events VALUES (gen_uuidv7('2025-01-01'), 'old')`.execute(db);
const { id: after } = await db.selectFrom("events").selectAll().executeTakeFirstOrThrow();
const { id: made } = await db.insertInto("events").values({ note: "made" }).returningAll().executeTakeFirstOrThrow();
console.log("made", made);
const since = new Date("2026-11-01T00:00:00Z");
await sql`SELECT pg_sleep(0.01)`.execute(db);
// block 1 of javascript.md#kysely
console.log("later", ...later.map(({ id }) => id));
console.log("feed", ...feed.map(({ id }) => id));
await db.destroy();
