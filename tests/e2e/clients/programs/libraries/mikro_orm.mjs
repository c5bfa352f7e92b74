// MikroORM: the columnType of each property. A time is raw SQL.
import { EntitySchema, MikroORM, raw } from "@mikro-orm/postgresql";
import { journey, since } from "./journey.mjs";

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
const find = (condition) => orm.em.fork().find("Order", condition, { orderBy: { id: "asc" } });
await journey({
  insert: async () => {
    const em = orm.em.fork();
    const order = em.create("Order", { note: "made" });
    await em.persistAndFlush(order);
    await em.persistAndFlush(em.create("Item", { order }));
    return order.id;
  },
  found: async (id) => [await orm.em.fork().findOne("Order", id)],
  listed: (ids) => find({ id: { $in: ids } }),
  later: () => find({ [raw("id >= ?::timestamptz", [since])]: [] }),
  joined: async (id) => {
    const items = await orm.em.fork().find("Item", { order: { id } }, { populate: ["order"] });
    return items.map((item) => item.order);
  },
  feed: (after) => find({ id: { $gt: after }, [raw("id < scru128_horizon()")]: [] }),
});
await orm.close();
