// PostGraphile: an ID is a String of the schema that it derives. Smart comments are not needed.
import pg from "pg";
import postgraphile from "postgraphile";
import { graphql } from "graphql";

const [old] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const schema = await postgraphile.createPostGraphileSchema(pool, "public");

async function run(source) {
  const { data, errors } = await postgraphile.withPostGraphileContext({ pgPool: pool }, (contextValue) =>
    graphql(schema, source, null, contextValue),
  );
  if (errors) throw errors[0];
  return data;
}
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));

const created = await run('mutation { createOrder(input: { order: { note: "made" } }) { order { id } } }');
const made = created.createOrder.order.id;
console.log("made", made);
await run(`mutation { createItem(input: { item: { orderId: "${made}" } }) { clientMutationId } }`);
report("found", [(await run(`{ orderById(id: "${made}") { note } }`)).orderById]);
const joined = await run(`{ allItems(condition: { orderId: "${made}" }) { nodes { orderByOrderId { note } } } }`);
report("joined", joined.allItems.nodes.map((item) => item.orderByOrderId));
const { allOrders } = await run("{ allOrders(orderBy: ID_ASC) { nodes { id note } } }");
report("listed", allOrders.nodes.filter((order) => [old, made].includes(order.id)));
await pool.end();
