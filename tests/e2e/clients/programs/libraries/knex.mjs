// knex: a time needs a cast.
import knex from "knex";

const [old] = process.argv.slice(2);
const db = knex({ client: "pg", connection: process.env.DATABASE_URL });

const [{ id: made }] = await db("orders").insert({ note: "made" }).returning("id");
console.log("made", made);
await db("items").insert({ order_id: made });
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
report("found", await db("orders").where({ id: made }));
report("listed", await db("orders").whereIn("id", [old, made]).orderBy("id"));
const since = new Date(Date.now() - 3_600_000);
report("since", await db("orders").whereRaw("id >= ?::timestamptz", [since]).orderBy("id"));
report("joined", await db("orders").join("items", "items.order_id", "orders.id").where("orders.id", made));

let after = old;
const feed = [];
while (feed.at(-1)?.note !== "made") {
  const rows = await db("orders").where("id", ">", after).whereRaw("id < scru128_horizon()").orderBy("id");
  feed.push(...rows);
  after = rows.at(-1)?.id ?? after;
}
report("feed", feed);
await db.destroy();
