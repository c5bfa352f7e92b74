// pg-promise: a list and a time need a cast.
import pgPromise from "pg-promise";

const [old] = process.argv.slice(2);
const db = pgPromise()(process.env.DATABASE_URL);

const { id: made } = await db.one("INSERT INTO orders (note) VALUES ('made') RETURNING id");
console.log("made", made);
await db.none("INSERT INTO items (order_id) VALUES ($1)", [made]);
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
report("found", await db.any("SELECT note FROM orders WHERE id = $1", [made]));
report("listed", await db.any("SELECT note FROM orders WHERE id = ANY($1::scru128[]) ORDER BY id", [[old, made]]));
const since = new Date(Date.now() - 3_600_000);
report("since", await db.any("SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id", [since]));
const joined = "SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = $1";
report("joined", await db.any(joined, [made]));

let after = old;
const feed = [];
while (feed.at(-1)?.note !== "made") {
  const select = "SELECT id, note FROM orders WHERE id > $1 AND id < scru128_horizon() ORDER BY id";
  const rows = await db.any(select, [after]);
  feed.push(...rows);
  after = rows.at(-1)?.id ?? after;
}
report("feed", feed);
await db.$pool.end();
