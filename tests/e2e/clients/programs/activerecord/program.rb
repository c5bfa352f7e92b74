# ActiveRecord: runs a migration, writes schema.rb, and uses the models. IDs are strings.

require "logger"
require "active_record"
require "stringio"
require_relative "scru"

class Order < ActiveRecord::Base
  has_many :items
end

class Item < ActiveRecord::Base
  belongs_to :order
end

# Prints a line for the test: a name, and the resulting values.
def report(name, *values)
  puts [name, *values.map { |value| value.nil? ? "NULL" : value }].join(" ")
end

# From Rails 7.2 on, these methods take a connection pool instead of a connection.
NEW = ActiveRecord.version >= Gem::Version.new("7.2")

def migrate(migrations)
  (NEW ? ActiveRecord::MigrationContext.new(migrations) : ActiveRecord::MigrationContext.new(migrations, ActiveRecord::SchemaMigration)).migrate
end

def schema
  dumped = StringIO.new
  ActiveRecord::SchemaDumper.dump(NEW ? ActiveRecord::Base.connection_pool : ActiveRecord::Base.connection, dumped)
  dumped.string
end

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))
ActiveRecord::Migration.verbose = false
migrate File.expand_path("db/migrate", __dir__)

ids = ARGV
ActiveRecord::FixtureSet.create_fixtures(File.expand_path("test/fixtures", __dir__), %w[orders items])
first = Item.find(ActiveRecord::FixtureSet.identify(:first, :ulid))
report "fixture", first.order.note, first.a, first.b, first.c
Item.delete_all
Order.delete_all
order = Order.create!(note: "made")
report "made", order.id
ids.each { |id| Order.create!(id: id, note: "given") }
given = Order.where(note: "given").order(:id)
report "found", *given.where(id: ids).pluck(:id)
since = Time.utc(2026, 11, 1)
report "found_by_time", *given.where("id >= ?::timestamptz", since).pluck(:id)
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
