// node-postgres. `id` is the first of the IDs. The others are in the table.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import pg from "pg";
import { from } from "pg-copy-streams";

const ids = process.argv.slice(2);
const [id] = ids;
const since = new Date("2026-11-01T00:00:00Z");
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
// block 1 of javascript.md#node-postgres
console.log("made", made.id);
console.log("found", ...found.rows.map((row) => row.id));
console.log("later", ...later.rows.map((row) => row.id));
// block 2 of javascript.md#node-postgres
const arrays = await client.query("SELECT array_agg(id ORDER BY id) AS ids FROM orders WHERE note = 'given'");
console.log("array", ...arrays.rows[0].ids);
// block 3 of javascript.md#node-postgres
const { rows } = await client.query("SELECT id::bytea FROM copied ORDER BY id");
console.log("bytes", ...rows.map((row) => row.id.toString("hex")));
const { rows: found_by_bytes } = await client.query("SELECT id::bytea FROM copied WHERE id = $1", [rows[0].id]);
if (!found_by_bytes[0].id.equals(rows[0].id)) throw new Error("a Buffer is not the ID");
try {
  await client.query("INSERT INTO orders (id) VALUES ($1)", ["!"]);
} catch (error) {
  if (!(error instanceof pg.DatabaseError)) throw error;
  console.log("malformed", error.code);
}
await client.end();
