#!/usr/bin/env bash
# Compiles the extension for the server of PG_CONFIG, and lays what has to be installed into target/install/NN: nothing but a
# compiler is run. With a folder `vendor` (`make vendor`) the crates come from it, and no network is used. LIBRARY names a library
# that is compiled already.
source "$(dirname "$0")/env.sh"

require_rust
[ -x "$(command -v "$PG_CONFIG")" ] || die "There is no $PG_CONFIG. Install the server's headers, or name it: make PG_CONFIG=/path/to/pg_config"
[[ " ${MAJORS[*]} " == *" $PG_MAJOR "* ]] || die "PostgreSQL $PG_MAJOR is not supported: ${MAJORS[0]} to ${MAJORS[-1]} are."
[ -f "$(pg includedir-server)/postgres.h" ] || die "The headers of PostgreSQL $PG_MAJOR are missing from $(pg includedir-server)."

if [ -z "${LIBRARY:-}" ]; then
    say "Building scru in release mode for $(pg version)"
    build_library release
    LIBRARY=$(library release)
fi
version=$(package_version scru)
rm -rf "$STAGE"
mkdir -p "$STAGE"
cp "$LIBRARY" "$STAGE/scru.so"
sed "s/@CARGO_VERSION@/$version/" scru.control >"$STAGE/scru.control"
# Upgrade scripts, and the scripts of released versions, which are frozen.
find sql sql/released -maxdepth 1 -name 'scru--*.sql' -exec cp -t "$STAGE" {} +
[ -f "$STAGE/scru--$version.sql" ] || cargo "${CARGO_SOURCE[@]}" sqlgen --script >"$STAGE/scru--$version.sql"
pg version >"$STAGE/built-for"
