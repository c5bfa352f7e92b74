#!/usr/bin/env bash
# Freezes the SQL of this version, that of Cargo.toml: its install script, sql/released/scru--VERSION.sql, and the upgrade
# scripts that lead to it are from now on as they are, byte by byte. The next change of the SQL begins with a new version
# there and in META.json, and an upgrade script sql/scru--VERSION--NEXT.sql.
source "$(dirname "$0")/env.sh"

cargo sqlgen --check
cargo sqlgen --release
cd "$ROOT/sql"
version=$(sed -n '/^name = "scru"$/{n;s/^version = "\(.*\)"$/\1/p}' ../Cargo.lock)
find . -name "scru--$version.sql" -o -name "scru--*--$version.sql" | sort | xargs sha256sum >>released/SHA256SUMS
say "Frozen, and to be committed:"
cat released/SHA256SUMS
