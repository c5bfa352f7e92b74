// Prisma, after `prisma generate`. `program.mjs orders ID…` uses IDs that the server generates as scru128, and
// `program.mjs events AFTER` UUIDs of version 7. Both are in columns of type uuid.

import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/index.js";

const [command, ...ids] = process.argv.slice(2);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

async function useOrders(ids) {
  const made = await prisma.order.create({ data: { note: "made", items: { create: [{}, {}] } }, include: { items: true } });
  report("made", made.id);
  report("items", ...made.items.map(({ id }) => id));
  await prisma.order.createMany({ data: ids.map((id) => ({ id, note: "given" })) });
  const found = await prisma.order.findMany({ where: { id: { in: ids } }, orderBy: { id: "asc" } });
  report("found", ...found.map(({ id }) => id));
  const since = new Date("2026-11-01T00:00:00Z").toISOString();
  const foundByTime = await prisma.$queryRaw`
    SELECT id FROM orders WHERE note = 'given' AND id >= scru128_lower(${since}::timestamptz)::uuid ORDER BY id`;
  report("found_by_time", ...foundByTime.map(({ id }) => id));
  const [{ text, time }] = await prisma.$queryRaw`
    SELECT id::scru128::text AS text, scru128_timestamp(id::scru128) AS time FROM orders WHERE id = ${made.id}::uuid`;
  report("text", text);
  report("time", time.getTime());
}

async function useEvents(after) {
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
    SELECT uuidv7_timestamp(id) AS created_at, uuidv7_prefixed('event', id) AS typeid
    FROM events WHERE id = ${made.id}::uuid`;
  report("created_at", created_at.getTime());
  report("typeid", typeid);
}

await (command === "orders" ? useOrders(ids) : useEvents(ids[0]));
await prisma.$disconnect();
