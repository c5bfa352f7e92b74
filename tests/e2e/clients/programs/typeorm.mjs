// TypeORM on a column of type uuid. The entity does not differ from the table.
import { DataSource, EntitySchema, Raw } from "typeorm";

const Event = new EntitySchema({
  name: "Event",
  tableName: "events",
  columns: {
    // block 1 of javascript.md#typeorm
    note: { type: "text" },
  },
});
const source = await new DataSource({ type: "postgres", url: process.env.DATABASE_URL, entities: [Event] }).initialize();
await source.query(`ALTER TABLE events RENAME CONSTRAINT events_pkey TO "PK_40731c7151fe4be3116e45ddf73"`);
const { upQueries } = await source.driver.createSchemaBuilder().log();
if (upQueries.length) throw new Error(`the entity differs from the table: ${upQueries[0].query}`);

const events = source.getRepository(Event);
const after = process.env.AFTER;
const since = new Date("2026-11-01T00:00:00Z");
// block 2 of javascript.md#typeorm
console.log("events", ...later.map(({ id }) => id));
console.log("feed", ...feed.map(({ id }) => id));
console.log("event", (await events.save({ note: "made" })).id);
await source.destroy();
