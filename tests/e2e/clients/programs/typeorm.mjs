// TypeORM on a column of type uuid. A migration creates the table, and the entity does not differ from it.
import { DataSource, EntitySchema, Raw } from "typeorm";

const Event = new EntitySchema({
  name: "Event",
  tableName: "events",
  columns: {
    // block 1 of javascript.md#typeorm
    note: { type: "text" },
  },
});

class CreateEvents1793491200000 {
  async up(runner) {
    await runner.query(`CREATE EXTENSION IF NOT EXISTS scru_uuidv7 CASCADE`);
    await runner.query(`CREATE TABLE "events" ("id" uuid NOT NULL DEFAULT gen_uuidv7(), "note" text NOT NULL,
      CONSTRAINT "PK_40731c7151fe4be3116e45ddf73" PRIMARY KEY ("id"))`);
  }
}

const source = new DataSource({
  type: "postgres",
  url: process.env.DATABASE_URL,
  entities: [Event],
  migrations: [CreateEvents1793491200000],
});
await source.initialize();
await source.runMigrations();
const { upQueries } = await source.driver.createSchemaBuilder().log();
if (upQueries.length) throw new Error(`the entity differs from the table: ${upQueries[0].query}`);

const events = source.getRepository(Event);
await source.query("INSERT INTO events VALUES (gen_uuidv7('2025-01-01'), 'old')");
const [{ id: after }] = await events.find();
const { id: made } = await events.save({ note: "made" });
console.log("made", made);
const since = new Date("2026-11-01T00:00:00Z");
await source.query("SELECT pg_sleep(0.01)");
// block 2 of javascript.md#typeorm
console.log("later", ...later.map(({ id }) => id));
console.log("feed", ...feed.map(({ id }) => id));
await source.destroy();
