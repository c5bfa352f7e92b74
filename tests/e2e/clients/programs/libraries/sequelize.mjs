// Sequelize: the type of a column is its name. A time is cast in a literal.
import { col, literal, Op, Sequelize, where } from "sequelize";
import { journey, since } from "./journey.mjs";

const sequelize = new Sequelize(process.env.DATABASE_URL, { logging: false });
const id = { type: "scru128", primaryKey: true, defaultValue: literal("gen_scru128()") };
const plain = { timestamps: false };
const Order = sequelize.define("order", { id, note: "text" }, { ...plain, tableName: "orders" });
const Item = sequelize.define("item", { id, order_id: "scru128" }, { ...plain, tableName: "items" });
Item.belongsTo(Order, { foreignKey: { name: "order_id", type: "scru128" } });

const find = (condition) => Order.findAll({ where: condition, order: ["id"] });
const time = literal(`timestamptz ${sequelize.escape(since.toISOString())}`);
const below = where(col("id"), Op.lt, literal("scru128_horizon()"));
await journey({
  insert: async () => {
    const { id } = await Order.create({ note: "made" });
    await Item.create({ order_id: id });
    return id;
  },
  found: async (id) => [await Order.findByPk(id)],
  listed: (ids) => find({ id: ids }),
  later: () => find(where(col("id"), Op.gte, time)),
  joined: async (id) => (await Item.findAll({ include: Order, where: { order_id: id } })).map((item) => item.order),
  feed: (after) => find({ [Op.and]: [{ id: { [Op.gt]: after } }, below] }),
});
await sequelize.close();
