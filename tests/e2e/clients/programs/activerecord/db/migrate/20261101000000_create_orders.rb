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
