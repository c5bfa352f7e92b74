// Prisma, after `prisma generate`. `program.mjs AFTER ID…`: AFTER is an ID of the events, the others of the orders.
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/index.js";

const [after, ...ids] = process.argv.slice(2);
const since = new Date("2026-11-01T00:00:00Z");
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
const report = (name, rows) => console.log(name, ...rows.map(({ id }) => id));

const made = await prisma.order.create({ data: { note: "made", items: { create: [{}, {}] } }, include: { items: true } });
report("made", [made]);
await prisma.order.createMany({ data: ids.map((id) => ({ id, note: "given" })) });
report("found", await prisma.order.findMany({ where: { id: { in: ids } }, orderBy: { id: "asc" } }));
const laterOrders = await prisma.$queryRaw`
  SELECT id FROM orders WHERE id >= scru128_lower(${since.toISOString()}::timestamptz)::uuid ORDER BY id`;
report("later", laterOrders);
// block 2 of javascript.md#prisma
report("feed", feed);
report("events", later);
report("event", [await prisma.event.create({ data: { note: "made" } })]);
await prisma.$disconnect();
