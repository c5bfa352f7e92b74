#!/usr/bin/env bash
# setup.sh [PURPOSE]: checks for the requirements of a build and of PURPOSE, and installs the missing ones, after it has printed
# what it will install. Takes a fraction of a second if everything is installed. RUSTUP=yes: if Debian has no Rust that is new
# enough, installs it with rustup's installer, without a question. PURPOSE:
#   test       the tests
#   lint       the linters
#   clients    the tests of clients
#   operators  the tests of docs/several-servers.md and docs/alerts.md
#   long       the long tests: backup tools, PgBouncer, SQLsmith
#   packages   packaging and its tests
#   arm64      the tests for arm64
#   root       tools/lib/fresh-root.sh, which needs no build
#   servers    tools/lib/servers.sh
#   bench      the benchmark
#   report     the report of the benchmark, which needs no build
source "$(dirname "$0")/lib/env.sh"

# need NAME PACKAGES CHECK…: if the check fails, records NAME as missing, and PACKAGES as Debian's packages that contain it.
need() {
    "${@:3}" >/dev/null 2>&1 && return
    missing+=("$1 (Debian: $2)")
    packages+=" $2"
}
# need_rust NAME PACKAGE CHECK…: the same for a part of Rust. See plan_rust.
need_rust() {
    "${@:3}" >/dev/null 2>&1 && return
    missing+=("$1 (Debian: $2)")
    rust_packages+=" $2"
}

compiles_c() { cc -E -x c - <<<'#include <stdio.h>'; }
compiles_cxx() { c++ -E -x c++ - <<<'#include <string>'; }
has_file() { for file in "$@"; do [ ! -e "$file" ] || return 0; done && false; }
# bindgen needs clang's headers, which may be in a separate package.
has_libclang() {
    has_file "${LIBCLANG_PATH:-}" /usr/lib*/libclang.so* /usr/lib/*/libclang.so* /usr/lib/llvm*/lib*/libclang.so* &&
        has_file /usr/lib*/clang/*/include/stddef.h /usr/lib/llvm*/lib*/clang/*/include/stddef.h
}
# The server's headers include those of ICU, unless it was built without ICU.
has_icu() {
    [ ! -f "$(pg includedir-server)/pg_config.h" ] || grep '^#define USE_ICU 1' "$(pg includedir-server)/pg_config.h" || return 0
    cc -E -x c - <<<'#include <unicode/ucol.h>'
}
has_server() { [ -x "$(pg bindir)/initdb" ]; }
has_server_headers() { [ -f "$(pg includedir-server)/postgres.h" ]; }
has_pg_regress() { [ -x "$(pg pkglibdir)/pgxs/src/test/regress/pg_regress" ]; }
has_python_modules() { /usr/bin/python3 -c 'import importlib.util as i, sys; exit(not all(map(i.find_spec, sys.argv[1:])))' "$@"; }
has_libfaketime() { has_file /usr/lib*/faketime/libfaketime.so.1 /usr/lib/*/faketime/libfaketime.so.1; }

has_venv() { /usr/bin/python3 -c 'import ensurepip, venv'; }
has_node() { command -v node && command -v npm; }
has_jdbc() { has_file /usr/share/java/postgresql.jar; }
has_doctrine() {
    php -r 'require "Doctrine/ORM/autoload.php"; new Symfony\Component\Cache\Adapter\ArrayAdapter; exit(extension_loaded("pdo_pgsql") ? 0 : 1);'
}

has_pglogical() { [ -f "$(pg pkglibdir)/pglogical.so" ]; }

look_for_requirements() {
    missing=() packages='' rust_packages='' major=${PG_MAJOR:-NN}
    case ${1:-} in report | root) ;; *) look_for_build ;; esac
    case ${1:-} in
    test) look_for_tests ;;
    lint) look_for_linters ;;
    clients) look_for_clients ;;
    operators) look_for_operators ;;
    long) look_for_long ;;
    packages) look_for_packages ;;
    arm64) look_for_arm64 ;;
    root) look_for_debootstrap ;;
    servers) look_for_servers ;;
    bench) need 'Python 3 with psycopg 3' python3-psycopg has_python_modules psycopg ;;
    report) look_for_report ;;
    esac
}

look_for_build() {
    local server="PostgreSQL ${PG_MAJOR:-${MAJORS[0]} to ${MAJORS[-1]}}"
    need 'a C compiler' 'gcc libc6-dev' compiles_c
    need 'libclang with its headers' libclang-dev has_libclang
    need "$server" "postgresql-$major" has_server
    need "the headers of $server" "postgresql-server-dev-$major" has_server_headers
    need "ICU's headers" libicu-dev has_icu
    need_rust "Rust $RUST_VERSION or newer with Cargo" 'rustc cargo' has_rust
    # pgrx formats the bindings that it generates.
    need_rust rustfmt rustfmt cargo fmt --version
}

look_for_debootstrap() {
    need debootstrap debootstrap command -v debootstrap
    need "the keys of Debian's archive" debian-archive-keyring has_file /usr/share/keyrings/debian-archive-keyring.gpg
    # For the network of a machine without one.
    need iproute2 iproute2 command -v ip
}

look_for_servers() {
    look_for_debootstrap
    need pip python3-pip /usr/bin/python3 -m pip --version
}

look_for_report() {
    need 'pandas, tabulate and psycopg 3' 'python3-pandas python3-tabulate python3-psycopg' \
        has_python_modules pandas tabulate psycopg
}

look_for_packages() {
    # For `tools/lib/servers.sh bare`.
    shares_tests || look_for_debootstrap
    need debhelper debhelper command -v dh
    # dpkg checks the build dependencies if the Rust is Debian's.
    need pg_buildext postgresql-server-dev-all dpkg --status postgresql-server-dev-all
    need build-essential build-essential dpkg --status build-essential
    need lintian lintian command -v lintian
    need rpmbuild rpm command -v rpmbuild
    need rpmlint rpmlint command -v rpmlint
    # rpmbuild unpacks the archive with it.
    need unzip unzip command -v unzip
    need umoci umoci command -v umoci
    need 'the PGXN client' pgxnclient command -v pgxn
}

look_for_arm64() {
    [ "$(uname -m)" != aarch64 ] || return 0
    need 'a C compiler for arm64' 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' command -v aarch64-linux-gnu-gcc
    need 'an emulator of arm64' qemu-user command -v qemu-aarch64
}

look_for_tests() {
    need_rust Clippy rust-clippy cargo clippy --version
    need 'pg_regress' "postgresql-server-dev-$major" has_pg_regress
    need 'Python 3 with pytest and psycopg 3' 'python3-pytest python3-psycopg' has_python_modules pytest psycopg
    need 'pytest-xdist' python3-pytest-xdist has_python_modules xdist
    need 'hypothesis' python3-hypothesis has_python_modules hypothesis
    need 'libfaketime' libfaketime has_libfaketime
    need 'the sources of locales' locales has_file /usr/share/i18n/locales/tr_TR
    # `make test-all` leaves the pages of the benchmark, and the second implementation of the encryption, to the run on the oldest
    # server.
    shares_tests || look_for_report
    shares_tests || need 'cryptography for Python' python3-cryptography has_python_modules cryptography
    # libFuzzer is compiled from its sources.
    need 'a C++ compiler' g++ compiles_cxx
    # By which pgrx-tests switches to the server's user.
    need 'sudo' sudo command -v sudo
}

look_for_linters() { need 'virtual environments of Python' python3-venv has_venv; }

look_for_clients() {
    look_for_linters
    need 'Node.js with npm' 'nodejs npm' has_node
    need 'a JDK' default-jdk-headless command -v javac
    need 'the JDBC driver' libpostgresql-jdbc-java has_jdbc
    need 'ActiveRecord for PostgreSQL' 'ruby-activerecord ruby-pg' ruby -e 'require "active_record"; require "pg"'
    need 'Doctrine for PostgreSQL' 'php-cli php-pgsql php-doctrine-orm php-symfony-cache' has_doctrine
    need wal2json "postgresql-$major-wal2json" has_file "$(pg pkglibdir)/wal2json.so"
    need decoderbufs "postgresql-$major-decoderbufs" has_file "$(pg pkglibdir)/decoderbufs.so"
}

look_for_operators() {
    need Patroni patroni command -v patroni
    # Debian 13 installs Patroni with a client of another store.
    need "Patroni's client of etcd" python3-etcd has_python_modules etcd
    need etcd etcd-server command -v etcd
    need PgBouncer pgbouncer command -v pgbouncer
    need postgres_exporter prometheus-postgres-exporter command -v prometheus-postgres-exporter
    need pglogical "postgresql-$major-pglogical" has_pglogical
    need pg_repack "postgresql-$major-repack" has_file "$(pg pkglibdir)/pg_repack.so"
    need hypopg "postgresql-$major-hypopg" has_file "$(pg pkglibdir)/hypopg.so"
    need hll "postgresql-$major-hll" has_file "$(pg pkglibdir)/hll.so"
}

look_for_long() {
    look_for_tests
    need pgBackRest pgbackrest command -v pgbackrest
    need Barman barman command -v barman
    need valgrind valgrind command -v valgrind
    need PgBouncer pgbouncer command -v pgbouncer
    need SQLsmith sqlsmith command -v sqlsmith
}

stop_here() {
    printf '\n%s\n\nMissing:\n' "$1"
    printf '  - %s\n' "${missing[@]}"
    printf '\nInstall these and run make again. If PostgreSQL is in another place: make … PG_CONFIG=/path/to/pg_config\n'
    exit 1
} >&2

is_debian() { (. /etc/os-release && [[ " ${ID:-} ${ID_LIKE:-} " =~ \ (debian|ubuntu)\  ]]) 2>/dev/null && command -v apt-get >/dev/null; }

# ------------------------------------------------------------------------------------------------------------- the plan

# apt's sources and package lists for this installation only, apart from the system's: nothing of the system changes before the plan
# has been printed, and the lookup does not need root.
APT=$CACHE/apt
apt_options() {
    local option options=(
        Acquire::Retries=8 DPkg::Lock::Timeout=300 "APT::Sandbox::User=$(id -un)" "Dir::State::Lists=$APT/lists" Dir::Cache::pkgcache=
        Dir::Cache::srcpkgcache= "Dir::Etc::SourceList=$APT/sources.list" "Dir::Etc::SourceParts=$APT/sources.list.d"
        "Dir::Etc::Preferences=$APT/preferences"
    )
    OPTIONS=(-q)
    for option in "${options[@]}"; do OPTIONS+=(-o "$option"); done
}
apt_look_up() { LC_ALL=C "apt-$1" "${OPTIONS[@]}" "${@:2}"; }

update_lists() { apt_look_up get update >"$APT/log" 2>&1 || say "apt-get update failed: using the package lists that it has. Its log is $APT/log"; }
copy_sources() {
    mkdir -p "$APT/lists/partial"
    rm -rf "$APT"/{sources.list,sources.list.d,preferences}
    cp -rL /etc/apt/sources.list* "$APT"
    mkdir -p "$APT/sources.list.d"
    touch "$APT"/{sources.list,preferences}
    [ ! -f /etc/apt/preferences ] || cp /etc/apt/preferences "$APT"
    # Those of the system are used without a network.
    [ -e "$APT/lists/lock" ] || cp /var/lib/apt/lists/*_* "$APT/lists" 2>/dev/null || true
}

# candidate PACKAGE: prints the version that apt would install.
candidate() { apt_look_up cache policy "$1" | sed -n 's/^  Candidate: \([^(].*\)/\1/p'; }

# Sets PG_MAJOR to the version of the distribution's package `postgresql` or, if it is not supported, to the newest supported one
# that apt has.
choose_server() {
    local major
    PG_MAJOR=$(apt_look_up cache depends postgresql 2>/dev/null | sed -n 's/^  Depends: postgresql-\([0-9]*\)$/\1/p')
    if [[ " ${MAJORS[*]} " != *" $PG_MAJOR "* ]]; then
        PG_MAJOR=''
        for major in "${MAJORS[@]}"; do [ -z "$(candidate "postgresql-server-dev-$major")" ] || PG_MAJOR=$major; done
    fi
    PG_CONFIG=${PG_MAJOR:+/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}
}

# Succeeds if apt would install each of the missing packages in a version that is new enough.
offers_rust() {
    local package
    for package in $rust_packages; do is_new_enough "$(candidate "$package")" || return 1; done
}
# Adds the backports of the Debian release that the sources name, with priority for the packages of Rust only.
add_backports() {
    local codename sources url
    # shellcheck disable=SC1091 # a file of the system
    codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME:-}") || return
    # shellcheck disable=SC2016 # a format of apt
    sources=$(apt_look_up get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages')
    url=$(sed -n "s/^$codename //p" <<<"$sources" | head -n 1)
    [ -n "$codename" ] && [ -n "$url" ] || return
    BACKPORTS=$codename-backports
    grep -q "^$BACKPORTS " <<<"$sources" ||
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $url $BACKPORTS main" >"$APT/sources.list.d/scru.list"
    printf '\nPackage: src:rustc\nPin: release n=%s\nPin-Priority: 990\n' "$BACKPORTS" >>"$APT/preferences"
    update_lists
}

is_of_rustup() { has_rust && [[ $(rustc --print sysroot) == "${RUSTUP_HOME:-$HOME/.rustup}"/* ]]; }
# Sets RUST to where the missing parts of Rust come from: apt, backports, component or rustup.
plan_rust() {
    RUST='' BACKPORTS=''
    [ -n "$rust_packages" ] || return 0
    if is_of_rustup; then
        RUST=component
    elif offers_rust; then
        RUST=apt
    elif add_backports && offers_rust; then
        RUST=backports
    else
        RUST=rustup
        command -v curl >/dev/null || packages+=' curl ca-certificates'
    fi
}

print_plan() {
    [ -z "$packages" ] && [[ $RUST != @(apt|backports) ]] || say "Installing through apt:"
    [ -z "$packages" ] || echo "   $packages"
    case $RUST in
    apt) echo "   $rust_packages" ;;
    backports) echo "   $rust_packages (from $BACKPORTS, which is a source of this installation only)" ;;
    component) say "Installing through rustup: rustfmt clippy" ;;
    rustup) say "Rust, with rustup's installer and its minimal profile, into $PRIVATE_RUST" ;;
    esac
}

may_run_rustup() {
    local answer=${RUSTUP:-}
    [ "$RUST" = rustup ] || return 0
    if [ -z "$answer" ] && [ -t 0 ] && [ -t 2 ]; then read -rp 'Continue? [yes/no] ' answer; fi
    [[ ${answer,,} == @(y|yes) ]] || die "apt has no Rust $RUST_VERSION. To install it with rustup's installer as above, run: RUSTUP=yes make …"
}
# sudo may ask for a password on a terminal.
may_install() { is_root || sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }

# ----------------------------------------------------------------------------------------------------- the installation

# While this configuration exists, the installation of Debian's package does not create and start a server.
CREATECLUSTER=/etc/postgresql-common/createcluster.d
install_packages() {
    local names
    services=()
    read -ra names <<<"$packages $([[ $RUST != @(apt|backports) ]] || echo "$rust_packages")"
    [ "${#names[@]}" != 0 ] || return 0
    trap 'as_root rm -f $CREATECLUSTER/scru.conf; as_root rmdir --ignore-fail-on-non-empty $CREATECLUSTER; restore_services' EXIT
    forbid_services &&
        as_root mkdir -p "$CREATECLUSTER" &&
        as_root tee "$CREATECLUSTER/scru.conf" <<<'create_main_cluster = false' >/dev/null &&
        apt install --yes --no-install-recommends "${names[@]}"
}
# Suspends needrestart, which would restart running servers.
apt() { as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get "${OPTIONS[@]}" "$@"; }

# Debian starts and enables the services of these packages on installation. These functions prevent the start, and disable the
# services.
declare -A SERVICES=([patroni]=patroni ['etcd-server']=etcd [pgbouncer]=pgbouncer
    ['prometheus-postgres-exporter']=prometheus-postgres-exporter)
POLICY=/usr/sbin/policy-rc.d
POLICY_MARK='# for the time of an installation by tools/setup.sh'
forbid_services() {
    local name code=0
    # shellcheck disable=SC2206 # a list of words
    for name in "${names[@]}"; do services+=(${SERVICES[$name]:-}); done
    [ ${#services[@]} != 0 ] || return 0
    if [ ! -e "$POLICY" ]; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$POLICY_MARK" | as_root tee "$POLICY" >/dev/null
        as_root chmod 755 "$POLICY"
    fi
    as_root "$POLICY" "${services[0]}" start >/dev/null || code=$?
    [ "$code" = 101 ] || { say "$POLICY allows services to start" && return 1; }
}
restore_services() {
    local name
    for name in "${services[@]}"; do
        [ ! -e "/etc/init.d/$name" ] || as_root update-rc.d "$name" disable
    done
    ! grep -qsx "$POLICY_MARK" "$POLICY" || as_root rm "$POLICY"
}

install_rust() {
    case $RUST in
    component) rustup component add rustfmt clippy ;;
    rustup)
        curl --proto '=https' --tlsv1.2 --silent --show-error --fail --retry 8 https://sh.rustup.rs |
            CARGO_HOME=$PRIVATE_RUST/cargo RUSTUP_HOME=$PRIVATE_RUST/rustup sh -s -- -y --no-modify-path --profile minimal --component rustfmt --component clippy
        ;;
    esac
}

install_missing() {
    is_debian || stop_here 'Missing packages can be installed on Debian only.'
    apt_options
    copy_sources
    update_lists
    if [ -z "$PG_MAJOR" ]; then
        choose_server
        look_for_requirements "$@"
    fi
    plan_rust
    print_plan
    may_run_rustup
    may_install || stop_here 'Installing packages needs root or sudo.'
    (install_packages) || stop_here 'apt could not install the packages. To use a major version that apt has: make … PG_MAJOR=…'
    install_rust || stop_here 'Rust could not be installed.'
    select_rust
    look_for_requirements "$@"
    [ ${#missing[@]} = 0 ] || stop_here 'The packages have been installed, but some requirements are still not found.'
}

look_for_requirements "$@"
[ ${#missing[@]} = 0 ] || install_missing "$@"
