# config/initializers/scru.rb: defines the extension's types for migrations, models, schema.rb and fixtures.

require "active_record/connection_adapters/postgresql_adapter"
require "active_record/fixtures"

module Scru
  TYPES = %i[scru128 ulid scru160 scru64 ulidflake].freeze

  module TypeMap
    def initialize_type_map(map = type_map)
      super
      TYPES.each { |name| map.register_type name.to_s, adapter::OID::SpecializedString.new(name) }
    end

    private def adapter = ActiveRecord::ConnectionAdapters::PostgreSQL
  end

  # Makes the ID of a fixture from its label: the number that an integer key would have, as the text of the type.
  module Fixtures
    LENGTHS = { scru128: 25, ulid: 26, scru160: 32, scru64: 12, ulidflake: 13 }.freeze

    def identify(label, type = :integer)
      return super unless LENGTHS.key?(type)
      number = super(label)
      digits = %i[scru128 scru64].include?(type) ? number.to_s(36) : number.to_s(32)
      digits = digits.tr("a-v", "A-HJKMNP-TV-Z") if %i[ulid ulidflake].include?(type)
      digits.rjust(LENGTHS[type], "0")
    end
  end
end

ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.tap do |adapter|
  Scru::TYPES.each { |name| adapter::NATIVE_DATABASE_TYPES[name] = { name: name.to_s } }
  # From Rails 7.1 on, schema.rb creates all schemas, but this one is the extension's.
  adapter.prepend(Module.new { def schema_names = super - ["scru_internal"] })
  # An instance method up to Rails 6.1, and a class method in later versions.
  (adapter.respond_to?(:initialize_type_map) ? adapter.singleton_class : adapter).prepend(Scru::TypeMap)
end
ActiveRecord::ConnectionAdapters::PostgreSQL::ColumnMethods.module_eval do
  Scru::TYPES.each { |name| define_method(name) { |*names, **options| names.each { |n| column(n, name, **options) } } }
end
ActiveRecord::FixtureSet.singleton_class.prepend(Scru::Fixtures)
