// Prisma on a column of type uuid, after `prisma generate`.

import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/index.js";

const [after] = process.argv.slice(2);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

const feed = await prisma.$queryRaw`
  SELECT id, note FROM events WHERE id > ${after}::uuid AND id < uuidv7_horizon() ORDER BY id`;
report("feed", ...feed.map(({ id }) => id));

const made = await prisma.event.create({ data: { note: "made" } });
report("made", made.id);

const since = new Date(Date.now() - 3_600_000).toISOString();
const lastHour = await prisma.$queryRaw`
  SELECT id, note FROM events WHERE id >= ${since}::timestamptz ORDER BY id`;
report("found_by_time", ...lastHour.map(({ id }) => id));

const [{ created_at, typeid }] = await prisma.$queryRaw`
  SELECT uuidv7_timestamp(id) AS created_at, uuidv7_prefixed('event', id) AS typeid FROM events WHERE id = ${made.id}::uuid`;
report("created_at", created_at.getTime());
report("typeid", typeid);
await prisma.$disconnect();
