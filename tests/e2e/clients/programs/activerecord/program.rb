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
def report(name, *values) = puts([name, *values].join(" "))

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

ActiveRecord::FixtureSet.create_fixtures(File.expand_path("test/fixtures", __dir__), %w[orders items])
first = Item.find(ActiveRecord::FixtureSet.identify(:first, :ulid))
report "fixture", first.order.note, first.a, first.b, first.c
Item.delete_all
Order.delete_all
ids = ARGV
ids.each { |id| Order.create!(id: id, note: "given") }
since = Time.utc(2026, 11, 1)
# block 2 of ruby.md#activerecord
report "made", made.id
report "found", *found.pluck(:id)
report "later", *later.pluck(:id)
item = made.items.create!(others: ids)
report "item", item.reload.id, item.a, item.b, item.c
report "array", *item.others.sort
report "joined", *Item.joins(:order).where(orders: { note: "made" }).pluck(:note)
begin
  Order.create!(id: "!")
rescue ActiveRecord::StatementInvalid => error
  report "malformed", error.cause.result.error_field(PG::PG_DIAG_SQLSTATE)
end

File.write("schema.rb", schema)
ActiveRecord::Base.connection.execute("CREATE TABLE kept AS SELECT * FROM orders; DROP TABLE items, orders")
load File.expand_path("schema.rb")
report "same", schema.sub(/  create_table "kept".*?^  end\n\n/m, "") == File.read("schema.rb")
