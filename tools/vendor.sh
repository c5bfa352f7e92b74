#!/usr/bin/env bash
# Fetches the crates of Cargo.lock into the directory `vendor`. If it exists, tools/build.sh uses the crates in it.
source "$(dirname "$0")/lib/env.sh"

require_rust
rm -rf vendor
cargo vendor --locked --quiet --versioned-dirs vendor >/dev/null
cat >vendor/config.toml <<'TOML'
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
TOML
say "The crates are in $ROOT/vendor: make and make install need no network now"
