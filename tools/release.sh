#!/usr/bin/env bash
# Freezes the SQL of the version in Cargo.toml: writes the install script sql/released/EXTENSION--VERSION.sql of each extension, and
# records their checksums and those of the upgrade scripts to this version. These scripts may not change later. The next change of the SQL needs a new
# version in Cargo.toml and META.json, and an upgrade script sql/scru--VERSION--NEXT.sql.
source "$(dirname "$0")/lib/env.sh"

tools/gen.sh --check
cargo sqlgen --release
cd "$ROOT/sql"
version=$(sed -n '/^name = "scru"$/{n;s/^version = "\(.*\)"$/\1/p}' ../Cargo.lock)
find . -name "scru*--$version.sql" | sort | xargs sha256sum >>released/SHA256SUMS
say "Frozen; commit these files:"
cat released/SHA256SUMS
