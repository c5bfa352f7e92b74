#!/usr/bin/env bash
# Tests what this version promises the next one, and that a type is defined by one file. In a copy of this tree, freezes this
# version, and makes a next one, with another COMMENT and a further type of 12 bytes: its file, its line in the registry, its
# vectors and its SQL in an upgrade script. Builds the copy in the dev profile, and runs the tests of releases, the tests of the
# vectors, and some of the end-to-end tests on this type.
source "$(dirname "$0")/env.sh"
COPY=$ROOT/target/next-version

use_private_copy
tools/install.sh
PRESENT=$(pg pkglibdir)/scru.so
export LIBRARY_PROFILE=dev
source tools/lib/env.sh

rm -rf "$COPY"
mkdir -p "$COPY"
git ls-files -z | xargs -0 cp --parents --target-directory="$COPY"
cd "$COPY"
# Shares target/ to reuse the crates that are built already. Cargo does not distinguish packages of the same name and version by
# their directory, so `forget` removes the build output of the copy.
export CARGO_TARGET_DIR=$ROOT/target
forget() {
    rm -rf "$STAGE"
    cargo clean --quiet --profile dev --package scru --package scru-ids --package scru-server --package sqlgen
}
trap forget EXIT

version=$(package_version scru) next=${version%.*}.$((${version##*.} + 1))
say "The release of $version"
[ -e "sql/released/scru--$version.sql" ] || tools/release.sh
forget

say "$next, with a type of 12 bytes: its vectors, its SQL, its library"
sed -i "s/^version = \"$version\"$/version = \"$next\"/" Cargo.toml
cargo update --quiet --offline --workspace
cp tests/next_version/hexid.rs crates/ids/src
cp tests/next_version/hexid.json tests/vectors
sed -i 's/^mod ulid;$/mod hexid;\n&/; s/^pub use ulid::Ulid;$/pub use hexid::HexId;\n&/
    s|^\(.*\), ulid, Ulid, .*|\1, hexid, HexId, "../sql/install/hexid.sql");\n&|' crates/ids/src/lib.rs
sed -i "s/IS 'the types: /IS 'all types: /" sql/extension.sql.in
cargo test --quiet --package scru-ids --test vectors hexid
# Without its reference page, which would need the expected output of its examples.
cargo sqlgen

# The upgrade scripts, as CONTRIBUTING.md describes them.
changes() {
    [ "$1" != scru_text ] || sed -n '/^DO \$\$/,/^\$\$;/p; /^CREATE FUNCTION scru_internal.hexid_from_text/,/^$/p' sql/install/scru_text.sql
    [ "$1" = scru ] || return 0
    cat sql/install/hexid.sql
    sed -n '/^CREATE FUNCTION scru_inspect(id hexid,/,/^COMMENT/p' sql/install/extension.sql
    sed -n '/^CREATE FUNCTION scru_types(/,/^COMMENT/{s/^CREATE/& OR REPLACE/;p}' sql/install/extension.sql
    echo 'SELECT scru_adapt_to_server();'
}
for extension in "${EXTENSIONS[@]}"; do
    changes "$extension" | cat tools/lib/upgrade.sql sql/begin.sql.in - sql/end.sql.in |
        sed "s/@EXTENSION@/$extension/; s/@VERSION@/$next/; s/{{ extension }}/$extension/" >"sql/$extension--$version--$next.sql"
done
tools/lint.sh scripts

# The libraries of the released versions. That of this version is the present one, and others are built from their commits.
export RELEASED_LIBRARIES=$COPY/target/released
for frozen in sql/released/scru--*.sql; do
    released=${frozen#sql/released/scru--} released=${released%.sql} library=$PRESENT
    if [ "$released" != "$version" ]; then
        commit=$(git -C "$ROOT" log -1 --diff-filter=A --format=%h -- "$frozen")
        library=$("$ROOT/tools/lib/old-library.sh" "$commit")/scru.so
    fi
    install -D "$library" "$RELEASED_LIBRARIES/$released/scru.so"
done

PG_CONFIG=$("$ROOT/tools/server.sh" copy next-version) && export PG_CONFIG
tools/install.sh
say 'The update, two libraries in one server, and the operators, the order and the indexes of the type'
/usr/bin/python3 -m pytest -n 2 --dist=loadfile -m 'not alone' -k 'hexid or test_release or call_no_objects_of_users' \
    tests/e2e/*/test_{sanity,sort,generate,gist}.py tests/e2e/operations/test_{release,extension}.py
