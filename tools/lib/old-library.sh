#!/usr/bin/env bash
# old-library.sh COMMIT: builds the library of a commit for the server of PG_CONFIG in the release profile, unless it is built
# already. Prints the directory with the commit's source and the library, `scru.so`.
source "$(dirname "$0")/env.sh"
BUILT=$ROOT/target/compare

# `--locked` builds with the dependencies of that commit.
build() {
    say "Building the library of $1" >&2
    rm -rf "$2"
    mkdir -p "$2"
    # Cargo takes the sources of two commits for the same package, and compares their times with that of the last build.
    git archive "$1" | tar --extract --touch --directory="$2"
    (cd "$2" && CARGO_TARGET_DIR=$BUILT/target cargo build --locked --release --lib "${FEATURES[@]}" >&2)
    # Renamed only when complete: the name marks a finished build.
    cp "$BUILT/target/release/libscru.so" "$2/scru.so.new"
    mv "$2/scru.so.new" "$2/scru.so"
}

tree=$BUILT/$PG_MAJOR-$(git rev-parse --short "${1:?missing commit}")
[ -e "$tree/scru.so" ] || build "$1" "$tree"
echo "$tree"
