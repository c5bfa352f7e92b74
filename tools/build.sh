#!/usr/bin/env bash
# Compiles the extension for the server of PG_CONFIG, and fills target/install/NN with the files to install. Installs no packages
# and starts no server. If the directory `vendor` exists (`make vendor`), the crates come from it, and the build uses no network.
# LIBRARY names a compiled library to use instead of building one. LIBRARY_PROFILE is the Cargo profile (default: release).
source "$(dirname "$0")/lib/env.sh"

require_rust
[ -x "$(command -v "$PG_CONFIG")" ] || die "${PG_CONFIG:-pg_config} is missing. On Debian, run: make setup. Elsewhere: make PG_CONFIG=/path/to/pg_config"
[[ " ${MAJORS[*]} " == *" $PG_MAJOR "* ]] || die "PostgreSQL $PG_MAJOR is not supported: ${MAJORS[0]} to ${MAJORS[-1]} are."
[ -f "$(pg includedir-server)/postgres.h" ] || die "The headers of PostgreSQL $PG_MAJOR are missing from $(pg includedir-server)."

if [ -z "${LIBRARY:-}" ]; then
    say "Building scru in $BUILD_PROFILE mode for $(pg version) with $(rustc --version)"
    build_library "$BUILD_PROFILE"
    LIBRARY=$(library "$BUILD_PROFILE")
fi
version=$(package_version scru)

rm -rf "$STAGE"
mkdir -p "$STAGE"
cp "$LIBRARY" "$STAGE/scru.so"
# Upgrade scripts, and the frozen install scripts of released versions.
find sql -maxdepth 2 -name 'scru*--*.sql' -exec cp -t "$STAGE" {} +
find . sql -maxdepth 1 -name '*.control' | while read -r control; do
    extension=$(basename "$control" .control)
    sed "s/@CARGO_VERSION@/$version/" "$control" >"$STAGE/$extension.control"
    script=$STAGE/$extension--$version.sql
    [ -f "$script" ] || cargo "${CARGO_SOURCE[@]}" sqlgen --script "$extension" >"$script"
done
pg version >"$STAGE/built-for"
