// postgres.js: strings and lists work; a time needs a cast.
import postgres from "postgres";

const sql = postgres(process.env.DATABASE_URL);
const [old] = process.argv.slice(2);
const since = new Date(Date.now() - 3_600_000);
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));

const [{ id }] = await sql`INSERT INTO orders (note) VALUES ('made') RETURNING id`;
await sql`INSERT INTO items (order_id) VALUES (${id})`;
console.log("made", id);
report("found", await sql`SELECT note FROM orders WHERE id = ${id}`);
report("listed", await sql`SELECT note FROM orders WHERE id IN ${sql([old, id])} ORDER BY id`);
report("since", await sql`SELECT note FROM orders WHERE id >= ${since}::timestamptz ORDER BY id`);
report("joined", await sql`SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = ${id}`);
const read = [];
while (read.at(-1)?.note !== "made") {
  const after = read.at(-1)?.id ?? old;
  read.push(...(await sql`SELECT id, note FROM orders WHERE id > ${after} AND id < scru128_horizon() ORDER BY id`));
}
report("feed", read);
await sql.end();
