// postgres.js: strings and lists work; a time needs a cast.
import postgres from "postgres";

const [old] = process.argv.slice(2);
const sql = postgres(process.env.DATABASE_URL);

const [{ id: made }] = await sql`INSERT INTO orders (note) VALUES ('made') RETURNING id`;
console.log("made", made);
await sql`INSERT INTO items (order_id) VALUES (${made})`;
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
report("found", await sql`SELECT note FROM orders WHERE id = ${made}`);
report("listed", await sql`SELECT note FROM orders WHERE id IN ${sql([old, made])} ORDER BY id`);
const since = new Date(Date.now() - 3_600_000);
report("since", await sql`SELECT note FROM orders WHERE id >= ${since}::timestamptz ORDER BY id`);
report("joined", await sql`SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = ${made}`);

let after = old;
const feed = [];
while (feed.at(-1)?.note !== "made") {
  const rows = await sql`SELECT id, note FROM orders WHERE id > ${after} AND id < scru128_horizon() ORDER BY id`;
  feed.push(...rows);
  after = rows.at(-1)?.id ?? after;
}
report("feed", feed);
await sql.end();
