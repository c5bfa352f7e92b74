// PostGraphile: an ID is a String of the schema that it derives. Smart comments are not needed.
import pg from "pg";
import postgraphile from "postgraphile";
import { graphql } from "graphql";
import { journey } from "./journey.mjs";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const schema = await postgraphile.createPostGraphileSchema(pool, "public");

async function run(source) {
  const { data, errors } = await postgraphile.withPostGraphileContext({ pgPool: pool }, (contextValue) =>
    graphql(schema, source, null, contextValue),
  );
  if (errors) throw errors[0];
  return data;
}

await journey({
  insert: async () => {
    const created = await run('mutation { createOrder(input: { order: { note: "made" } }) { order { id } } }');
    const { id } = created.createOrder.order;
    await run(`mutation { createItem(input: { item: { orderId: "${id}" } }) { clientMutationId } }`);
    return id;
  },
  found: async (id) => [(await run(`{ orderById(id: "${id}") { note } }`)).orderById],
  listed: async (ids) => {
    const { allOrders } = await run("{ allOrders(orderBy: ID_ASC) { nodes { id note } } }");
    return allOrders.nodes.filter((order) => ids.includes(order.id));
  },
  joined: async (id) => {
    const { allItems } = await run(`{ allItems(condition: { orderId: "${id}" }) { nodes { orderByOrderId { note } } } }`);
    return allItems.nodes.map((item) => item.orderByOrderId);
  },
});
await pool.end();
