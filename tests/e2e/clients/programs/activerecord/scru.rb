# config/initializers/scru.rb: defines the extension's types for migrations, models and schema.rb.

require "active_record/connection_adapters/postgresql_adapter"

module Scru
  TYPES = %i[scru128 ulid scru160 scru64 ulidflake].freeze

  module TypeMap
    def initialize_type_map(map = type_map)
      super
      TYPES.each { |name| map.register_type name.to_s, adapter::OID::SpecializedString.new(name) }
    end

    private def adapter = ActiveRecord::ConnectionAdapters::PostgreSQL
  end
end

ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.tap do |adapter|
  Scru::TYPES.each { |name| adapter::NATIVE_DATABASE_TYPES[name] = { name: name.to_s } }
  # An instance method up to Rails 6.1, and a class method in later versions.
  (adapter.respond_to?(:initialize_type_map) ? adapter.singleton_class : adapter).prepend(Scru::TypeMap)
end
ActiveRecord::ConnectionAdapters::PostgreSQL::ColumnMethods.module_eval do
  Scru::TYPES.each { |name| define_method(name) { |*names, **options| names.each { |n| column(n, name, **options) } } }
end
