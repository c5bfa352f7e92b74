# ActiveRecord with a created_at that the database fills: a column, or an expression of a view.

require "active_record"
require "pg"
require_relative "../activerecord/scru"

class Order < ActiveRecord::Base
  self.primary_key = "id"
  self.record_timestamps = false
end

def report(name, *values) = puts([name, *values].join(" "))

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))
since = ActiveRecord::Base.connection.select_value("SELECT clock_timestamp() - interval '1 ms'")
made = %w[one two three].map { |note| Order.create!(note: note).reload }
report "has_time", made.all?(&:created_at)
report "since", *Order.where("created_at >= ?", since).order(created_at: :desc).pluck(:note)
report "latest", *Order.order(created_at: :desc).limit(2).pluck(:note)
report "is_largest", Order.maximum(:created_at) == made.last.created_at
made.first.update!(note: "changed")
report "changed", Order.find(made.first.id).note
made.second.destroy!
report "deleted", Order.where("created_at >= ? AND note = 'old'", since).delete_all
report "left", *Order.order(:created_at).pluck(:note)
