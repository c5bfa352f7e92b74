#!/usr/bin/env bash
# Builds the extension in release mode and installs it into the server of PG_CONFIG.
source "$(dirname "$0")/env.sh"

# One file, unless it is there already. A new file rather than new content: servers that run keep what they have loaded.
install_file() {
    local from=$1 to=$2
    cmp -s "$from" "$to" && return
    echo "Installing $to"
    if [ -w "$(dirname "$to")" ]; then install -m 644 "$from" "$to"; else as_root install -m 644 "$from" "$to"; fi ||
        die "Cannot write to $(dirname "$to"): neither writable nor sudo without a password."
}

say "Building scru in release mode for $(pg version)"
package=$ROOT/target/package/$PG_MAJOR
rm -rf "$package"
# What cargo and rustc say, errors among it, is on stderr; on stdout it is cargo-pgrx's own commentary.
"$CARGO_PGRX" pgrx package --pg-config "$PG_CONFIG" --out-dir "$package" "${FEATURES[@]}" >/dev/null

# The scripts of released versions: upgrades start from them, and older ones can still be created with the new library.
extension=$package$(pg sharedir)/extension
find sql/released -name 'scru--*.sql' | while read -r script; do
    [ -e "$extension/${script##*/}" ] || cp "$script" "$extension"
done

find "$package" -type f | while read -r file; do install_file "$file" "${file#"$package"}"; done
