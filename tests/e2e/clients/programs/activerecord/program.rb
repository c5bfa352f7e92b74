# ActiveRecord: a migration creates the tables, and so does the schema.rb that is written. IDs are strings.

require "logger"
require "active_record"
require "stringio"
require_relative "scru"

class CreateOrders < ActiveRecord::Migration[6.1]
  def change
    # block 1 of ruby.md#activerecord

    create_table :items, id: :ulid, default: -> { "gen_ulid()" } do |t|
      t.references :order, type: :scru128, foreign_key: true, null: false
      t.scru160 :a, default: -> { "gen_scru160()" }
      t.scru64 :b, default: -> { "gen_scru64()" }
      t.ulidflake :c, default: -> { "gen_ulidflake()" }
      t.scru128 :others, array: true
    end
  end
end

class Order < ActiveRecord::Base
  has_many :items
end

class Item < ActiveRecord::Base
  belongs_to :order
end

# Prints a line for the test: a name, and the resulting values.
def report(name, *values) = puts([name, *values].join(" "))

def schema
  dumped = StringIO.new
  # From Rails 7.2 on, a connection pool instead of a connection.
  is_new = ActiveRecord.version >= Gem::Version.new("7.2")
  ActiveRecord::SchemaDumper.dump(is_new ? ActiveRecord::Base.connection_pool : ActiveRecord::Base.connection, dumped)
  dumped.string
end

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))
ActiveRecord::Migration.verbose = false
CreateOrders.migrate(:up)
File.write("schema.rb", schema)
ActiveRecord::Base.connection.execute("DROP TABLE items, orders")
load File.expand_path("schema.rb")
report "same", schema == File.read("schema.rb")

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
item = made.items.create!(others: ids).reload
report "lengths", *[item.id, item.a, item.b, item.c].map(&:length)
report "array", *item.others.sort
report "joined", *Item.joins(:order).where(orders: { note: "made" }).pluck(:note)
begin
  Order.create!(id: "!")
rescue ActiveRecord::StatementInvalid => error
  report "malformed", error.cause.result.error_field(PG::PG_DIAG_SQLSTATE)
end
