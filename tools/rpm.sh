#!/usr/bin/env bash
# Builds an RPM package of the last commit for the server of PG_CONFIG in target/rpm/NN: the sources are the archive of
# `make dist`, and the crates those of `make vendor`, so that rpmbuild needs no network. LIBRARY names a compiled library to use
# instead of building one: its crates are not needed then.
source "$(dirname "$0")/lib/env.sh"

command -v rpmbuild >/dev/null || die 'rpmbuild is missing. Install it: apt install rpm'
version=$(package_version scru)
work=${CARGO_TARGET_DIR:-$ROOT/target}/rpm/$PG_MAJOR
name=scru-$version
[ -z "${LIBRARY:-}" ] || LIBRARY=$(realpath "$LIBRARY")
export LIBRARY=${LIBRARY:-}

rm -rf "$work"
mkdir -p "$work/SOURCES"
cp "$(tools/dist.sh | tail -n 1)" "$work/SOURCES/$name.zip"
: >"$work/SOURCES/$name-vendor.tar"
if [ -z "$LIBRARY" ]; then
    # The crates of the commit, which may differ from those of this tree.
    (cd "$work" && /usr/bin/python3 -m zipfile -e "SOURCES/$name.zip" . && bash "$name/tools/vendor.sh")
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --directory="$work/$name" --create \
        --file="$work/SOURCES/$name-vendor.tar" vendor
    rm -r "${work:?}/$name"
fi

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date --date="$(sed -n '/^%changelog/{n;s/^\* \(\w* \w* \w* \w*\) .*/\1/p}' packaging/rpm/scru.spec) UTC" +%s)}
options=(--define "_topdir $work" --define "pgmajorversion $PG_MAJOR" --define "pg_config $PG_CONFIG")
# rpm knows neither of Debian's packages nor of a Rust that rustup installed.
rpm --query --file "$(command -v rustc)" >/dev/null 2>&1 || options+=(--define 'without_requirements 1')
if [ -n "$LIBRARY" ]; then
    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ROOT/target}
else
    # That of the unpacked sources.
    unset CARGO_TARGET_DIR
fi
rpmbuild -ba --quiet "${options[@]}" packaging/rpm/scru.spec
say 'RPM packages:'
find "$work/RPMS" "$work/SRPMS" -name '*.rpm'
