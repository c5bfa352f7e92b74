// postgres.js: strings and lists work; a time needs a cast.
import postgres from "postgres";
import { journey, since } from "./journey.mjs";

const sql = postgres(process.env.DATABASE_URL);
await journey({
  insert: async () => {
    const [{ id }] = await sql`INSERT INTO orders (note) VALUES ('made') RETURNING id`;
    await sql`INSERT INTO items (order_id) VALUES (${id})`;
    return id;
  },
  found: (id) => sql`SELECT note FROM orders WHERE id = ${id}`,
  listed: (ids) => sql`SELECT note FROM orders WHERE id IN ${sql(ids)} ORDER BY id`,
  later: () => sql`SELECT note FROM orders WHERE id >= ${since}::timestamptz ORDER BY id`,
  joined: (id) => sql`SELECT note FROM orders JOIN items ON order_id = orders.id WHERE orders.id = ${id}`,
  feed: (after) => sql`SELECT id, note FROM orders WHERE id > ${after} AND id < scru128_horizon() ORDER BY id`,
});
await sql.end();
