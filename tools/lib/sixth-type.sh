#!/usr/bin/env bash
# Tests that a type is defined by one file. Adds a type of 12 bytes to a copy of this tree: its file, its line in the registry,
# and its vectors. Builds the copy in the dev profile, and runs the tests of the vectors and some of the end-to-end tests on this
# type.
export LIBRARY_PROFILE=dev
source "$(dirname "$0")/env.sh"
COPY=$ROOT/target/sixth-type

rm -rf "$COPY"
mkdir -p "$COPY"
git ls-files -z | xargs -0 cp --parents --target-directory="$COPY"
cp tests/sixth_type/hexid.rs "$COPY/crates/ids/src"
cp tests/sixth_type/hexid.json "$COPY/tests/vectors"
cd "$COPY"
# If this version is released, its SQL is frozen. Without the frozen script, the build renders the SQL of the copy.
rm -f "sql/released/scru--$(package_version scru).sql"
sed -i 's/^mod ulid;$/mod hexid;\n&/; s/^pub use ulid::Ulid;$/pub use hexid::HexId;\n&/
    s|^\(.*\), ulid, Ulid, .*|\1, hexid, HexId, "../sql/install/hexid.sql");\n&|' crates/ids/src/lib.rs

say 'A type of 12 bytes: its vectors, its SQL, its library'
# Shares target/ to reuse the crates that are built already. Cargo does not distinguish packages of the same name and version by
# their directory, so `forget` removes the build output of the copy.
export CARGO_TARGET_DIR=$ROOT/target
forget() {
    rm -rf "$STAGE"
    cargo clean --quiet --profile dev --package scru --package scru-ids --package sqlgen
}
trap forget EXIT
cargo test --quiet --package scru-ids --test vectors hexid
# Without its reference page, which would need the expected output of its examples.
cargo sqlgen
PG_CONFIG=$("$ROOT/tools/server.sh" copy sixth-type) && export PG_CONFIG
tools/install.sh
say 'Its operators, its order, its indexes'
/usr/bin/python3 -m pytest -n 2 --dist=loadfile -m 'not alone' -k hexid \
    tests/e2e/*/test_{sanity,sort,generate,gist}.py
