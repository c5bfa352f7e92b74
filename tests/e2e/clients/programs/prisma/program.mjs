// Prisma, after `prisma generate`. IDs are UUIDs that the server generates as scru128.

import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/index.js";

const ids = process.argv.slice(2);
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });

// Prints a line for the test: a name, and the resulting values.
function report(name, ...values) {
  console.log(name, ...values);
}

const made = await prisma.order.create({ data: { note: "made", items: { create: [{}, {}] } }, include: { items: true } });
report("made", made.id);
report("items", ...made.items.map(({ id }) => id));
await prisma.order.createMany({ data: ids.map((id) => ({ id, note: "given" })) });
const found = await prisma.order.findMany({ where: { id: { in: ids } }, orderBy: { id: "asc" } });
report("found", ...found.map(({ id }) => id));
const since = new Date("2026-11-01T00:00:00Z").toISOString();
const foundByTime = await prisma.$queryRaw`
  SELECT id FROM orders WHERE note = 'given' AND id >= scru128_floor(${since}::timestamptz)::uuid ORDER BY id`;
report("found_by_time", ...foundByTime.map(({ id }) => id));
const [{ text, time }] = await prisma.$queryRaw`
  SELECT id::scru128::text AS text, scru128_timestamp(id::scru128) AS time FROM orders WHERE id = ${made.id}::uuid`;
report("text", text);
report("time", time.getTime());
await prisma.$disconnect();
