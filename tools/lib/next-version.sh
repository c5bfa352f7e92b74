#!/usr/bin/env bash
# next-version.sh [rehearse]: tests what this version promises the next one, and that a type is defined by one file. In a copy of this
# tree, follows RELEASING.md: makes this version a released one, and begins a next one, with another COMMENT and a further type of 12
# bytes: its file, its line in the registry, its vectors and its SQL in an upgrade script. Builds the copy in the dev profile, and runs
# the tests of releases, the tests of the vectors, and some of the end-to-end tests on this type. On the way, plants mistakes: each has
# to be refused, or found by a test. With `rehearse`, also plants those whose discovery takes a build or a server, releases the next
# version, and makes a third one without new SQL.
source "$(dirname "$0")/env.sh"
COPY=$ROOT/target/next-version
REHEARSE=${1:-}

use_private_copy
tools/install.sh
PRESENT=$(pg pkglibdir)/scru.so
export LIBRARY_PROFILE=dev
source tools/lib/env.sh

rm -rf "$COPY"
mkdir -p "$COPY"
git ls-files -z | xargs -0 cp --parents --target-directory="$COPY"
cd "$COPY"
export RELEASED_LIBRARIES=$COPY/target/released LOG=$COPY/target/mistake.log
mkdir -p "$RELEASED_LIBRARIES"
# Shares target/ to reuse the crates that are built already. Cargo does not distinguish packages of the same name and version by
# their directory, so `forget` removes the build output of the copy.
export CARGO_TARGET_DIR=$ROOT/target
forget() {
    rm -rf "$STAGE"
    cargo clean --quiet --profile dev --package scru --package scru-ids --package scru-server --package sqlgen
}
trap forget EXIT

export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=rehearsal GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=''
commit() { git add --all && git commit --quiet --message="$1"; }
git init --quiet
commit 'This tree'

tests() { /usr/bin/python3 -m pytest -p no:cacheprovider -n 2 --dist=loadfile -m 'not alone' "$@"; }
export -f tests
RELEASE=tests/e2e/operations/test_release.py

MISTAKES=0
# mistake TEXT EDIT COMMAND MESSAGE: commits an edit, and expects that a command then fails with this message.
mistake() {
    local base
    base=$(git rev-parse HEAD)
    say "Mistake $((MISTAKES += 1)): $1"
    bash -euc "$2"
    commit "$1" || die 'The edit changes nothing.'
    if bash -euc "$3" >"$LOG" 2>&1 || ! grep --quiet --fixed-strings -- "$4" "$LOG"; then
        tail --lines=30 "$LOG"
        die "Not found: $4"
    fi
    git reset --quiet --hard "$base"
    git clean --quiet --force -d
}
mistake_in_tests() { mistake "$1" "$2" "tools/install.sh remove; tools/install.sh; tests $RELEASE -k $3" "$4"; }

# ------------------------------------------------------------------------------------------------------------ the first

version=$(package_version scru) next=${version%.*}.$((${version##*.} + 1)) third=${version%.*}.$((${version##*.} + 2))
released() { [ -e "sql/released/scru--$version.sql" ]; }
fill_in() {
    sed -i -E 's/^(\| date \|) [^|]* \|/\1 2026-12-31 |/; s/^(\| [a-z ]+ \|) \*?([^|*]*)\*? \|/\1 \2 |/
        /^\| /s/\.invalid/.example/' RELEASING.md
    commit "Fill in $version"
}
make_release() {
    say "The release of $version"
    tools/release.sh
    commit "Release $version"
    git tag --annotate "v$version" --message "scru $version"
    tools/release.sh ready
}
if ! released; then
    fill_in
    mistake 'a change that is not committed' 'echo >>SECURITY.md' 'echo >>README.md; tools/release.sh' 'Uncommitted changes:  M README.md'
    mistake 'no date' 'sed -i "s/^| date | [^|]*/| date | *not yet released* /" RELEASING.md' tools/release.sh \
        'RELEASING.md: date is a placeholder'
    mistake 'an address that nobody has' 'sed -i "s/^| address | [^|]*/| address | scru@packages.invalid /" RELEASING.md' tools/release.sh \
        'RELEASING.md: address is a placeholder: scru@packages.invalid'
    mistake 'a page that says that there is no release' 'echo "Nothing has been published yet." >>docs/install.md' tools/release.sh \
        'a release makes this wrong: Nothing has been published yet.'
    mistake 'a changelog without this version' "sed -i 's/^## \[$version\]/## [0.0.1]/' CHANGELOG.md" tools/release.sh \
        "CHANGELOG.md: there is no text for $version"
    make_release
    mistake 'a recipe out of development versions' 'git checkout --quiet HEAD~ docs/migrate.md' 'tools/release.sh ready' \
        'docs/migrate.md: the way out of development versions'
    tests -k each_row tests/e2e/operations/test_migrate.py
    make --silent release-notes | grep --count "](https://repository.example/scru/blob/v$version/docs/install.md)"
fi
mistake 'versions that disagree' 'sed -i "s/^Version: .*/Version: 0.0.1/" packaging/rpm/scru.spec' 'tools/release.sh ready' \
    "packaging/rpm/scru.spec: 0.0.1 instead of $version"
mistake 'new SQL in a released version' 'echo "-- more" >>sql/internal.sql.in; cargo sqlgen' 'tools/gen.sh --check' \
    "the SQL of version $version is released: change it in the next version"
forget

# ------------------------------------------------------------------------------------------------------------- the next

say "$next, with a type of 12 bytes: its vectors, its SQL, its library"
tools/release.sh next "$next"
cp tests/next_version/hexid.rs crates/ids/src
cp tests/next_version/hexid.json tests/vectors
sed -i 's/^mod ulid;$/mod hexid;\n&/; s/^pub use ulid::Ulid;$/pub use hexid::HexId;\n&/
    s|^\(.*\), ulid, Ulid, .*|\1, hexid, HexId, "../sql/install/hexid.sql");\n&|' crates/ids/src/lib.rs
sed -i "s/IS 'the types: /IS 'all types: /" sql/extension.sql.in
cargo test --quiet --package scru-ids --test vectors hexid
# Without its reference page, which would need the expected output of its examples.
cargo sqlgen
sed -i "0,/^## \[$next\].*/s//&\n\n- **Types**: hexid./" CHANGELOG.md

# The upgrade scripts, as RELEASING.md describes them. change EXTENSION: inserts standard input before the last statements.
change() {
    local script=sql/$1--$version--$next.sql
    sed -i '/^SELECT scru_adapt_to_server();$/d' "$script"
    { head --lines="-$(wc -l <sql/end.sql.in)" "$script" && cat && cat sql/end.sql.in; } | sed "s/{{ extension }}/$1/" >"$script.new"
    mv "$script.new" "$script"
}
{
    cat sql/install/hexid.sql
    sed -n '/^CREATE FUNCTION scru_inspect(id hexid,/,/^COMMENT/p' sql/install/extension.sql
    sed -n '/^CREATE FUNCTION scru_types(/,/^COMMENT/{s/^CREATE/& OR REPLACE/;p}' sql/install/extension.sql
    echo 'SELECT scru_adapt_to_server();'
} | change scru
sed -n '/^DO \$\$/,/^\$\$;/p; /^CREATE FUNCTION scru_internal.hexid_from_text/,/^$/p' sql/install/scru_text.sql | change scru_text
/usr/bin/python3 tools/lib/scripts.py
commit "Begin $next"

layouts=src/shared/layouts.rs
mistake 'a script of a released version is changed' "echo >>sql/released/scru--$version.sql" "tests $RELEASE -k frozen" \
    "./released/scru--$version.sql"
mistake 'a layout without a new name' "sed -i '/^layouts! {/,/^}/s/, Header [0-9]*:/, Header 128:/' $layouts" \
    "tests $RELEASE -k layout" "Header 128"
mistake 'a state with other contents' "sed -i '/^words! {/,/^}/s/leading 64/leading 60/' $layouts" \
    "tests $RELEASE -k layout" "leading 60"
mistake 'a new page of the marks, and the old one is not read' "sed -i 's/\"page v[0-9]* in/\"page v99 in/' $layouts" \
    "tests $RELEASE -k layout" "assert {'page v"
script=sql/scru--$version--$next.sql
mistake 'a script for sessions with the old library' "sed -i '/^LOAD/d' $script" '/usr/bin/python3 tools/lib/scripts.py' \
    'does not begin with tools/lib/upgrade.sql'
mistake 'a function is dropped' "sed -i 's/^CREATE TYPE hexid;/DROP FUNCTION scru_types();\n&/' $script" '/usr/bin/python3 tools/lib/scripts.py' \
    'a script does not contain: DROP FUNCTION scru_types()'

# The libraries of the released versions. That of this version is the present one, and others are built from their commits.
for frozen in sql/released/scru--*.sql; do
    each=${frozen#sql/released/scru--} each=${each%.sql} library=$PRESENT
    if [ "$each" != "$version" ]; then
        origin=$(git -C "$ROOT" log -1 --diff-filter=A --format=%h -- "$frozen")
        library=$("$ROOT/tools/lib/old-library.sh" "$origin")/scru.so
    fi
    install -D "$library" "$RELEASED_LIBRARIES/$each/scru.so"
done

PG_CONFIG=$("$ROOT/tools/server.sh" copy next-version) && export PG_CONFIG
tools/install.sh
say 'The update, two libraries in one server, and the operators, the order and the indexes of the type'
tests -k 'hexid or test_release or refers_to_no_decoy' \
    tests/e2e/*/test_{sanity,sort,generate,gist}.py tests/e2e/operations/test_{release,trusted,extension}.py
[ -n "$REHEARSE" ] || exit 0

# Mistakes that only a server shows.
mistake_in_tests 'a script that forgets an object' "sed -i '/^COMMENT ON TYPE hexid/d' $script" ends_like \
    "hexid: None"
mistake_in_tests 'a function is replaced by another one of its name' \
    "sed -i 's/^CREATE OR REPLACE FUNCTION scru_types(/DROP FUNCTION scru_types();\nCREATE FUNCTION scru_types(/' $script" \
    ends_like "('function scru_types()'"
mistake_in_tests 'an extension without a script' "git rm --quiet sql/scru_text--$version--$next.sql" ends_like \
    "has no update path from version \"$version\" to version \"$next\""

# ------------------------------------------------------------------------------------------------------------ the third

# With the library of the release, and not that of the last mistake.
tools/install.sh
install -D "$(pg pkglibdir)/scru.so" "$RELEASED_LIBRARIES/$next/scru.so"
say "The reference page of the type"
TESTS=reference tools/lib/regress.sh regress fsync=off || true
cp "$(tools/server.sh home)/$PG_MAJOR-regress/out/results/reference.out" tests/pg_regress/expected
tools/gen.sh
commit 'Describe the type'
version=$next
fill_in
make_release
say "$third, without new SQL"
tools/release.sh next "$third"
commit "Begin $third"
forget
tools/install.sh
tests "$RELEASE"
mistake_in_tests 'a symbol that is gone' "sed -i 's/guarded \[gen_ \$name _at\]/guarded [gen_ \$name _of]/' src/symbols.rs" \
    symbols gen_scru128_at
mistake_in_tests 'a new file for the marks, which begins without them' \
    "sed -i 's/8672/8673/; s/number == NUMBER/number + 1 == NUMBER/' src/shared/mark_page.rs" preloaded \
    "assert max(before[id_type]) < min("
say "$MISTAKES mistakes were found, and $third is ready"
