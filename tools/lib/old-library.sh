#!/usr/bin/env bash
# old-library.sh COMMIT: builds the library of a commit for the server of PG_CONFIG, unless it is built already. Prints the directory
# with the commit's source and the library, `scru.so`. LIBRARY_PROFILE is the Cargo profile (default: release), and CARGO_TARGET_DIR
# the directory of the build (default: one of its own), where other builds may have compiled most crates.
source "$(dirname "$0")/env.sh"
BUILT=$ROOT/target/compare
TARGET=${CARGO_TARGET_DIR:-$BUILT/target}

# `--locked` builds with the dependencies of that commit.
build() {
    say "Building the library of $1" >&2
    rm -rf "$2"
    mkdir -p "$2"
    # Cargo takes the sources of two commits for the same package, and compares their times with that of the last build.
    git archive "$1" | tar --extract --touch --directory="$2"
    # A name of its own, apart from the library that other builds leave in the same directory.
    (cd "$2" && CARGO_TARGET_DIR=$TARGET cargo rustc --locked --profile "$BUILD_PROFILE" --lib "${FEATURES[@]}" -- -Cextra-filename=-old >&2)
    # Renamed only when complete: the name marks a finished build.
    cp "$TARGET/${BUILD_PROFILE/#dev/debug}/deps/libscru-old.so" "$2/scru.so.new"
    mv "$2/scru.so.new" "$2/scru.so"
}

tree=$BUILT/$PG_MAJOR-$(git rev-parse --short "${1:?missing commit}")${BUILD_PROFILE#release}
[ -e "$tree/scru.so" ] || build "$1" "$tree"
echo "$tree"
