#!/usr/bin/env bash
# release.sh             makes this version a released one: writes the values of RELEASING.md into the files, and freezes what upgrades
#                        start from. Writes into sql/released the install script of each extension, EXTENSION--VERSION.sql, which
#                        names the symbols of the library, VERSION.layouts, the layouts of shared memory, of its words and of the
#                        page of the marks, and VERSION.names, the public names. Records the checksums of these files and of the
#                        upgrade scripts to this version: none of them may change later.
# release.sh ready [TAG]   checks that the last commit is the release of a tag, by default its own.
# release.sh next VERSION  begins the next version.
source "$(dirname "$0")/lib/env.sh"
program() { /usr/bin/python3 tools/lib/release.py "$@"; }

version=$(package_version scru)
case ${1:-} in
ready)
    program ready "${2:-$(git describe --exact-match)}"
    (cd sql && sha256sum --quiet --check released/SHA256SUMS)
    say "This is $version"
    exit
    ;;
next)
    program next "${2:?missing version}"
    cargo update --quiet --offline --workspace
    say "This is $2; the upgrade scripts from $version change nothing yet"
    exit
    ;;
esac
[ -z "$(git status --porcelain)" ] || die "Uncommitted changes: $(git status --short)"
tools/gen.sh --check
program fill
mkdir -p sql/released
cargo sqlgen --release
sed -n '/^\(layouts\|words\)! {$/,/^}$/p' src/shared/layouts.rs >"sql/released/$version.layouts"
tools/lib/names.sh >"sql/released/$version.names"
cd sql
find . -name "scru*--$version.sql" -o -name "$version.layouts" -o -name "$version.names" | sort | xargs sha256sum >>released/SHA256SUMS
git -C "$ROOT" status --short
say "Next, as in RELEASING.md: review these changes by git diff, and commit them as Release $version"
