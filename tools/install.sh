#!/usr/bin/env bash
# install.sh [remove]: copies the output of tools/build.sh into the server of PG_CONFIG, below DESTDIR if set: the library, the
# control files, the install scripts of this version, the upgrade scripts, and the scripts of released versions.
# Builds first only if the files are missing or older than a source, so that `sudo make install` after `make` needs no compiler.
# With `remove`, removes the installed files instead.
source "$(dirname "$0")/lib/env.sh"

SOURCES=(.cargo Cargo.lock Cargo.toml crates scru.control sql src)
is_built() {
    [ "$(cat "$STAGE/built-for" 2>/dev/null)" = "$(pg version)" ] &&
        [ -z "$(find "${SOURCES[@]}" -newer "$STAGE/built-for" -print -quit)" ]
}

# Does not touch a file with the same content. Otherwise creates a new file: running servers keep the library they have loaded.
install_into() { install -D --compare --mode="$1" --target-directory="$2" "${@:3}"; }

libraries=${DESTDIR:-}$(pg pkglibdir)
extensions=${DESTDIR:-}$(pg sharedir)/extension
if [ "${1:-}" = remove ]; then
    rm -f "$libraries/scru.so"
    for extension in "${EXTENSIONS[@]}"; do
        rm -f "$extensions/$extension.control" "$extensions/$extension"--*.sql
    done
    exit
fi
is_built || tools/build.sh
install_into 755 "$libraries" "$STAGE/scru.so"
install_into 644 "$extensions" "$STAGE"/*.control "$STAGE"/*.sql
echo "Installed scru $(package_version scru) into $libraries and $extensions"
