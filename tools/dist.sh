#!/usr/bin/env bash
# Builds the archive for PGXN from the last commit: target/dist/scru-VERSION.zip.
source "$(dirname "$0")/lib/env.sh"

git rev-parse --git-dir >/dev/null 2>&1 || die 'The archive is made from a commit. Run make dist in a clone of the repository.'
[ -z "$(git status --porcelain)" ] || say 'Uncommitted changes are not included'
name=scru-$(package_version scru)
archive=${CARGO_TARGET_DIR:-$ROOT/target}/dist/$name.zip
mkdir -p "$(dirname "$archive")"
git archive --format=zip --prefix="$name/" --output="$archive" HEAD
echo "$archive"
