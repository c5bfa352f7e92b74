// Kysely on a column of type uuid: `program.mjs migrate`, `program.mjs run AFTER`.

import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import pg from "pg";

const [command, after] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

const events = {
  async up(db) {
    await sql`CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE`.execute(db);
    await db.schema.createTable("events")
      .addColumn("id", "uuid", (column) => column.primaryKey().defaultTo(sql`gen_uuidv7()`))
      .addColumn("note", "text", (column) => column.notNull())
      .execute();
  },
};

async function migrate() {
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => ({ events }) } }).migrateToLatest();
  if (error) throw error;
}

async function run() {
  const feed = await db.selectFrom("events").selectAll()
    .where("id", ">", after).where("id", "<", sql`uuidv7_horizon()`).orderBy("id").execute();
  report("feed", ...feed.map(({ id }) => id));

  const made = await db.insertInto("events").values({ note: "made" }).returningAll().executeTakeFirstOrThrow();
  report("made", made.id);

  const since = new Date(Date.now() - 3_600_000);
  const lastHour = await db.selectFrom("events").selectAll()
    .where("id", ">=", sql`${since}::timestamptz`).orderBy("id").execute();
  report("found_by_time", ...lastHour.map(({ id }) => id));

  const { created_at, typeid } = await db.selectFrom("events").where("id", "=", made.id)
    .select(({ fn, val }) => [
      fn("uuidv7_timestamp", ["id"]).as("created_at"),
      fn("uuidv7_prefixed", [val("event"), "id"]).as("typeid"),
    ]).executeTakeFirstOrThrow();
  report("created_at", created_at.getTime());
  report("typeid", typeid);
}

await (command === "migrate" ? migrate() : run());
await db.destroy();
