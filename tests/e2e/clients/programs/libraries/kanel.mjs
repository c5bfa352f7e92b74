// kanel: a customTypeMap of one line for each type.
import { createRequire } from "node:module";
import { readFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
const { processDatabase } = createRequire(import.meta.url)("kanel");

const outputPath = mkdtempSync(join(process.cwd(), "models-"));
await processDatabase({
  connection: process.env.DATABASE_URL,
  schemas: ["public"],
  outputPath,
  customTypeMap: { "public.scru128": "string" },
});
const model = readFileSync(join(outputPath, "public", "Orders.ts"), "utf8");
console.log("found", /type OrdersId = string/.test(model) ? "a" : model);
