// knex: a time needs a cast.
import knex from "knex";
import { journey, since } from "./journey.mjs";

const db = knex({ client: "pg", connection: process.env.DATABASE_URL });
await journey({
  insert: async () => {
    const [{ id }] = await db("orders").insert({ note: "made" }).returning("id");
    await db("items").insert({ order_id: id });
    return id;
  },
  found: (id) => db("orders").where({ id }),
  listed: (ids) => db("orders").whereIn("id", ids).orderBy("id"),
  later: () => db("orders").whereRaw("id >= ?::timestamptz", [since]).orderBy("id"),
  joined: (id) => db("orders").join("items", "items.order_id", "orders.id").where("orders.id", id),
  feed: (after) => db("orders").where("id", ">", after).whereRaw("id < scru128_horizon()").orderBy("id"),
});
await db.destroy();
