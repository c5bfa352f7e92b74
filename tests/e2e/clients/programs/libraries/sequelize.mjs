// Sequelize: the type of a column is its name. A time is cast in a literal.
import { col, literal, Op, QueryTypes, Sequelize, where } from "sequelize";

const [old] = process.argv.slice(2);
const sequelize = new Sequelize(process.env.DATABASE_URL, { logging: false });
const id = { type: "scru128", primaryKey: true, defaultValue: literal("gen_scru128()") };
const plain = { timestamps: false };
const Order = sequelize.define("order", { id, note: "text" }, { ...plain, tableName: "orders" });
const Item = sequelize.define("item", { id, order_id: "scru128" }, { ...plain, tableName: "items" });
Item.belongsTo(Order, { foreignKey: { name: "order_id", type: "scru128" } });

const { id: made } = await Order.create({ note: "made" });
console.log("made", made);
await Item.create({ order_id: made });
const report = (name, rows) => console.log(name, ...rows.map((row) => row.note));
report("found", [await Order.findByPk(made)]);
report("listed", await Order.findAll({ where: { id: [old, made] }, order: ["id"] }));
const since = new Date(Date.now() - 3_600_000);
const time = literal(`timestamptz ${sequelize.escape(since.toISOString())}`);
report("since", await Order.findAll({ where: where(col("id"), Op.gte, time), order: ["id"] }));
report("joined", (await Item.findAll({ include: Order, where: { order_id: made } })).map((item) => item.order));

let after = old;
const feed = [];
while (feed.at(-1)?.note !== "made") {
  const below = where(col("id"), Op.lt, literal("scru128_horizon()"));
  const rows = await Order.findAll({ where: { [Op.and]: [{ id: { [Op.gt]: after } }, below] }, order: ["id"] });
  feed.push(...rows);
  after = rows.at(-1)?.id ?? after;
}
report("feed", feed);
await sequelize.close();
