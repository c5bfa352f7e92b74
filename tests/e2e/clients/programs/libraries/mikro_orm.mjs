// MikroORM: the columnType of each property. A time is raw SQL.
import { EntitySchema, MikroORM, raw } from "@mikro-orm/postgresql";

const [old] = process.argv.slice(2);
const id = { type: "string", columnType: "scru128", primary: true, defaultRaw: "gen_scru128()" };
const Order = new EntitySchema({
  name: "Order",
  tableName: "orders",
  properties: { id, note: { type: "text" } },
});
const Item = new EntitySchema({
  name: "Item",
  tableName: "items",
  properties: { id, order: { kind: "m:1", entity: "Order", fieldName: "order_id", columnType: "scru128" } },
});
const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Order, Item] });
const em = orm.em.fork();

const order = em.create("Order", { note: "made" });
await em.persistAndFlush(order);
const made = order.id;
console.log("made", made);
await em.persistAndFlush(em.create("Item", { order }));
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
const orderBy = { id: "asc" };
report("found", [await em.fork().findOne("Order", made)]);
report("listed", await em.fork().find("Order", { id: { $in: [old, made] } }, { orderBy }));
const since = new Date(Date.now() - 3_600_000);
report("since", await em.fork().find("Order", { [raw("id >= ?::timestamptz", [since])]: [] }, { orderBy }));
const items = await em.fork().find("Item", { order: { note: "made" } }, { populate: ["order"] });
report("joined", items.map((item) => item.order));

let after = old;
const feed = [];
while (feed.at(-1)?.note !== "made") {
  const below = { [raw("id < scru128_horizon()")]: [] };
  const rows = await em.fork().find("Order", { id: { $gt: after }, ...below }, { orderBy });
  feed.push(...rows);
  after = rows.at(-1)?.id ?? after;
}
report("feed", feed);
await orm.close();
