# ActiveRecord with Debian's packages: migrates, writes schema.rb, and works with the models. IDs are strings.

require "active_record"
require "stringio"
require_relative "scru"

class Order < ActiveRecord::Base
  has_many :items
end

class Item < ActiveRecord::Base
  belongs_to :order
end

# One line: what was tried, and the values that came of it.
def report(name, *values)
  puts [name, *values.map { |value| value.nil? ? "NULL" : value }].join(" ")
end

def schema
  dumped = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, dumped)
  dumped.string
end

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))
ActiveRecord::Migration.verbose = false
migrations = File.expand_path("db/migrate", __dir__)
ActiveRecord::MigrationContext.new(migrations, ActiveRecord::SchemaMigration).migrate

ids = ARGV
order = Order.create!(note: "made")
report "made", order.id
ids.each { |id| Order.create!(id: id, note: "given") }
given = Order.where(note: "given").order(:id)
report "found", *given.where(id: ids).pluck(:id)
report "first", Order.order(:id).first.id
item = order.items.create!(others: [nil, *ids])
report "item", item.reload.id, item.a, item.b, item.c
report "array", *item.others
report "order", *Item.joins(:order).where(orders: { note: "made" }).pluck(:order_id)
begin
  Order.create!(id: "!")
rescue ActiveRecord::StatementInvalid => error
  report "malformed", error.cause.result.error_field(PG::PG_DIAG_SQLSTATE)
end

File.write("schema.rb", schema)
ActiveRecord::Base.connection.execute("DROP TABLE items, orders")
load File.expand_path("schema.rb")
report "same", schema == File.read("schema.rb")
