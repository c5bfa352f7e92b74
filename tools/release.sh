#!/usr/bin/env bash
# Freezes the version in Cargo.toml, from which upgrades will start. Writes into sql/released the install script of each extension,
# EXTENSION--VERSION.sql, which names the symbols of the library; VERSION.layouts, the layouts of shared memory and of the page of
# the marks; and VERSION.names, the public names. Records the checksums of these files and of the upgrade scripts to this version: none of them may change later.
source "$(dirname "$0")/lib/env.sh"

tools/gen.sh --check
mkdir -p sql/released
cargo sqlgen --release
version=$(package_version scru)
sed -n '/^layouts! {$/,/^}$/p' src/shared/layouts.rs >"sql/released/$version.layouts"
tools/lib/names.sh >"sql/released/$version.names"
cd sql
find . -name "scru*--$version.sql" -o -name "$version.layouts" -o -name "$version.names" | sort | xargs sha256sum >>released/SHA256SUMS
say 'Frozen; commit these files:'
cat released/SHA256SUMS
