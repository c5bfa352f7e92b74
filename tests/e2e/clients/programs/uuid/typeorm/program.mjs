// TypeORM on a column of type uuid: `program.mjs migrate`, `program.mjs run AFTER`.

import { DataSource, EntitySchema, Raw } from "typeorm";

const [command, after] = process.argv.slice(2);

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

const Event = new EntitySchema({
  name: "Event",
  tableName: "events",
  columns: {
    id: { type: "uuid", primary: true, default: () => "gen_uuidv7()" },
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

async function migrate() {
  await source.runMigrations();
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  if (upQueries.length) throw new Error(`the entity differs from the table: ${upQueries[0].query}`);
}

async function run() {
  const events = source.getRepository(Event);
  const feed = await events.createQueryBuilder("event")
    .where("event.id > :after AND event.id < uuidv7_horizon()", { after }).orderBy("event.id").getMany();
  report("feed", ...feed.map(({ id }) => id));

  const made = await events.save({ note: "made" });
  report("made", made.id);

  const since = new Date(Date.now() - 3_600_000);
  const lastHour = await events.find({
    where: { id: Raw((id) => `${id} >= :since::timestamptz`, { since }) },
    order: { id: "ASC" },
  });
  report("found_by_time", ...lastHour.map(({ id }) => id));

  const { created_at, typeid } = await events.createQueryBuilder("event")
    .select("uuidv7_timestamp(event.id)", "created_at").addSelect("uuidv7_prefixed('event', event.id)", "typeid")
    .where("event.id = :id", made).getRawOne();
  report("created_at", created_at.getTime());
  report("typeid", typeid);
}

await (command === "migrate" ? migrate() : run());
await source.destroy();
