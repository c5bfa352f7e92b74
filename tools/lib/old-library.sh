#!/usr/bin/env bash
# old-library.sh [--quick] COMMIT|VERSION: builds the library of a commit for the server of PG_CONFIG, unless it is built already.
# VERSION, a released version, stands for the commit that froze its SQL. Prints the directory with the commit's source and the
# library, `scru.so`. With --quick, the build is one of the dev profile, for which other builds have compiled most crates.
source "$(dirname "$0")/env.sh"
BUILT=$ROOT/target/compare
QUICK='' PROFILE=release TARGET=$BUILT/target
if [ "${1:-}" = --quick ]; then
    QUICK=-quick PROFILE=dev TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
    shift
fi

# `--locked` builds with the dependencies of that commit.
build() {
    say "Building the library of $1" >&2
    rm -rf "$2"
    mkdir -p "$2"
    # Cargo takes the sources of two commits for the same package, and compares their times with that of the last build.
    git archive "$1" | tar --extract --touch --directory="$2"
    # A name of its own, apart from the library that other builds leave in the same directory.
    (cd "$2" && CARGO_TARGET_DIR=$TARGET cargo rustc --locked --profile "$PROFILE" --lib "${FEATURES[@]}" -- -Cextra-filename=-old >&2)
    # Renamed only when complete: the name marks a finished build.
    cp "$TARGET/${PROFILE/#dev/debug}/deps/libscru-old.so" "$2/scru.so.new"
    mv "$2/scru.so.new" "$2/scru.so"
}

commit=${1:?missing commit or version}
frozen=sql/released/scru--$1.sql
[ ! -e "$frozen" ] || commit=$(git log -1 --diff-filter=A --format=%h -- "$frozen")
[ -n "$commit" ] || die "The history of this clone does not include the release of $1."
tree=$BUILT/$PG_MAJOR-$(git rev-parse --short "$commit")$QUICK
[ -e "$tree/scru.so" ] || build "$commit" "$tree"
[ ! -e "$frozen" ] || ln -sfn "$tree" "$BUILT/$PG_MAJOR-$1"
echo "$tree"
