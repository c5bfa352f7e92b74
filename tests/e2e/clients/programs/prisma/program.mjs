// Prisma on a column of type uuid. SQL creates the table, so that no migration engine is downloaded.
import { execFileSync } from "node:child_process";
import { PrismaPg } from "@prisma/adapter-pg";

execFileSync(process.execPath, ["node_modules/prisma/build/index.js", "generate"]);
const { PrismaClient } = await import("./generated/index.js");
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
const after = process.env.AFTER;
const since = new Date("2026-11-01T00:00:00Z");
// block 2 of javascript.md#prisma
console.log("events", ...later.map(({ id }) => id));
console.log("feed", ...feed.map(({ id }) => id));
const readable = await prisma.event.findMany({ where: { id: { gt: after } }, orderBy: { id: "asc" } });
if (readable.length !== feed.length) throw new Error("the model has other rows than the table");
console.log("event", (await prisma.event.create({ data: { note: "made" } })).id);
await prisma.$disconnect();
