// pg-promise: a list and a time need a cast.
import pgPromise from "pg-promise";
import { journey, since } from "./journey.mjs";

const db = pgPromise()(process.env.DATABASE_URL);
const joined = "SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = $1";
await journey({
  insert: async () => {
    const { id } = await db.one("INSERT INTO orders (note) VALUES ('made') RETURNING id");
    await db.none("INSERT INTO items (order_id) VALUES ($1)", [id]);
    return id;
  },
  found: (id) => db.any("SELECT note FROM orders WHERE id = $1", [id]),
  listed: (ids) => db.any("SELECT note FROM orders WHERE id = ANY($1::scru128[]) ORDER BY id", [ids]),
  later: () => db.any("SELECT note FROM orders WHERE id >= $1::timestamptz ORDER BY id", [since]),
  joined: (id) => db.any(joined, [id]),
  feed: (after) => db.any("SELECT id, note FROM orders WHERE id > $1 AND id < scru128_horizon() ORDER BY id", [after]),
});
await db.$pool.end();
