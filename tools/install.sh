#!/usr/bin/env bash
# Builds the extension in release mode and installs it into the server of PG_CONFIG: the library, the control file, the
# install script of this version, the upgrade scripts, and the scripts of released versions.
source "$(dirname "$0")/env.sh"

# Installs standard input as a file, unless the file has that content. A new file rather than new content: running servers
# keep what they have loaded.
install_as() {
    local to=$1 new
    new=$(mktemp)
    cat >"$new"
    if ! cmp -s "$new" "$to"; then
        echo "Installing $to"
        if [ -w "$(dirname "$to")" ]; then install -m 644 "$new" "$to"; else as_root install -m 644 "$new" "$to"; fi ||
            die "Cannot write to $(dirname "$to"): neither writable nor sudo without a password."
    fi
    rm -f "$new"
}

say "Building scru in release mode for $(pg version)"
build_library release
version=$(package_version scru)
extension=$(pg sharedir)/extension
script=$(cargo sqlgen --script)

install_as "$(pg pkglibdir)/scru.so" <"$(library release)"
install_as "$extension/scru.control" < <(sed "s/@CARGO_VERSION@/$version/" scru.control)
install_as "$extension/scru--$version.sql" <<<"$script"
find sql sql/released -maxdepth 1 -name 'scru--*.sql' ! -name "scru--$version.sql" | while read -r file; do
    install_as "$extension/${file##*/}" <"$file"
done
