#!/usr/bin/env bash
# Prints the path of the source archive of PostgreSQL $PG_MAJOR, from Debian's source package. Downloads it into the cache once.
source "$(dirname "$0")/env.sh"

# Runs a program of apt with lists of source packages in a separate directory, so that the machine's configuration is not changed.
apt_source() {
    "$1" -o Dir::Etc::SourceList="$WORK/apt/sources.list" -o Dir::Etc::SourceParts="$WORK/apt/sources.list.d" \
        -o Dir::State::Lists="$WORK/lists" -o Dir::Cache="$WORK" -o Acquire::Check-Valid-Until=false "${@:2}"
}
fetch_source() {
    local version
    mkdir -p "$WORK"/{apt,lists/partial,archives/partial}
    cp -rL /etc/apt/sources.list* "$WORK/apt"
    find "$WORK/apt" -name '*.list' -exec sed -i 's/^deb /deb-src /' {} +
    find "$WORK/apt" -name '*.sources' -exec sed -i 's/^Types:.*/Types: deb-src/' {} +
    # Not every repository has source packages.
    apt_source apt-get update || true
    # A mirror of the security updates may lack the newest.
    for version in $(apt_source apt-cache showsrc "postgresql-$PG_MAJOR" | sed -n 's/^Version: //p' | sort -rV); do
        (cd "$WORK" && apt_source apt-get source --download-only "postgresql-$PG_MAJOR=$version") && return
    done
    die "apt has no source package postgresql-$PG_MAJOR."
}

ARCHIVE=$CACHE/postgresql-$PG_MAJOR.orig.tar
if [ ! -f "$ARCHIVE" ]; then
    mkdir -p "$CACHE"
    WORK=$(mktemp -d "$CACHE/source-XXXXXX")
    trap 'rm -rf "$WORK"' EXIT
    fetch_source >&2
    mv "$WORK"/*.orig.tar.* "$ARCHIVE"
fi
echo "$ARCHIVE"
