#!/usr/bin/env bash
# setup.sh [PURPOSE]: checks for the requirements of a build and of PURPOSE, and installs the missing ones. Takes a fraction of a
# second if everything is installed. PURPOSE:
#   test       the tests
#   lint       the linters
#   clients    the tests of clients
#   operators  the tests of docs/several-servers.md and docs/alerts.md
#   long       the long tests: backup tools
#   packages   packaging and its tests
#   arm64      the tests for arm64
#   root       tools/lib/fresh-root.sh, which needs no build
#   servers    tools/lib/servers.sh
#   bench      the benchmark
#   report     the report of the benchmark, which needs no build
#   pgrx       the tests in the server (`cargo pgrx test`)
source "$(dirname "$0")/lib/env.sh"

# need NAME PACKAGES CHECK…: if the check fails, records NAME as missing, and PACKAGES as Debian's packages that contain it.
need() {
    "${@:3}" >/dev/null 2>&1 && return
    missing+=("$1 (Debian: $2)")
    packages+=" $2"
}

compiles_c() { cc -E -x c - <<<'#include <stdio.h>'; }
compiles_cxx() { c++ -E -x c++ - <<<'#include <string>'; }
has_file() { for file in "$@"; do [ ! -e "$file" ] || return 0; done && false; }
# bindgen needs clang's headers, which may be in a separate package.
has_libclang() {
    has_file "${LIBCLANG_PATH:-}" /usr/lib*/libclang.so* /usr/lib/*/libclang.so* /usr/lib/llvm*/lib*/libclang.so* &&
        has_file /usr/lib*/clang/*/include/stddef.h /usr/lib/llvm*/lib*/clang/*/include/stddef.h
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
    missing=() packages=''
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
    need 'a C compiler' 'gcc libc6-dev' compiles_c
    need 'libclang with its headers' libclang-dev has_libclang
    need "PostgreSQL $PG_MAJOR" "postgresql-$PG_MAJOR" has_server
    need "the headers of PostgreSQL $PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" has_server_headers
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
    need 'pandas, matplotlib and tabulate' 'python3-pandas python3-matplotlib python3-tabulate' \
        has_python_modules pandas matplotlib tabulate
}

look_for_packages() {
    # For `tools/lib/servers.sh bare`, which only the tests on the oldest server call.
    [ "$PG_MAJOR" != "${MAJORS[0]}" ] || look_for_debootstrap
    need debhelper debhelper command -v dh
    need lintian lintian command -v lintian
    need umoci umoci command -v umoci
    need 'the PGXN client' pgxnclient command -v pgxn
}

look_for_arm64() {
    [ "$(uname -m)" != aarch64 ] || return 0
    need 'a C compiler for arm64' 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' command -v aarch64-linux-gnu-gcc
    need 'an emulator of arm64' qemu-user command -v qemu-aarch64
}

look_for_tests() {
    need 'pg_regress' "postgresql-server-dev-$PG_MAJOR" has_pg_regress
    need 'Python 3 with pytest and psycopg 3' 'python3-pytest python3-psycopg' has_python_modules pytest psycopg
    need 'pytest-xdist' python3-pytest-xdist has_python_modules xdist
    need 'libfaketime' libfaketime has_libfaketime
    # The pages of the benchmark are tested on the oldest server only.
    [ "$PG_MAJOR" != "${MAJORS[0]}" ] || look_for_report
    # For the second implementation of the encryption, which is also tested there only.
    [ "$PG_MAJOR" != "${MAJORS[0]}" ] || need 'cryptography for Python' python3-cryptography has_python_modules cryptography
    # libFuzzer is compiled from its sources.
    need 'a C++ compiler' g++ compiles_cxx
    # `cargo pgrx test` installs files and switches to the server's user only through sudo.
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
    need wal2json "postgresql-$PG_MAJOR-wal2json" has_file "$(pg pkglibdir)/wal2json.so"
    need decoderbufs "postgresql-$PG_MAJOR-decoderbufs" has_file "$(pg pkglibdir)/decoderbufs.so"
}

look_for_operators() {
    need Patroni patroni command -v patroni
    need etcd etcd-server command -v etcd
    need PgBouncer pgbouncer command -v pgbouncer
    need postgres_exporter prometheus-postgres-exporter command -v prometheus-postgres-exporter
    need pglogical "postgresql-$PG_MAJOR-pglogical" has_pglogical
    need pg_repack "postgresql-$PG_MAJOR-repack" has_file "$(pg pkglibdir)/pg_repack.so"
    need hypopg "postgresql-$PG_MAJOR-hypopg" has_file "$(pg pkglibdir)/hypopg.so"
    need hll "postgresql-$PG_MAJOR-hll" has_file "$(pg pkglibdir)/hll.so"
}

look_for_long() {
    look_for_tests
    need pgBackRest pgbackrest command -v pgbackrest
    need Barman barman command -v barman
}

stop_here() {
    printf '\n%s\n\nMissing:\n' "$1"
    printf '  - %s\n' "${missing[@]}"
    printf '\nInstall these and run make again. If PostgreSQL is in another place: make … PG_CONFIG=/path/to/pg_config\n'
    exit 1
} >&2

is_debian() { (. /etc/os-release && [[ " ${ID:-} ${ID_LIKE:-} " =~ \ (debian|ubuntu)\  ]]) 2>/dev/null; }

# While this configuration exists, the installation of Debian's package does not create and start a server.
CREATECLUSTER=/etc/postgresql-common/createcluster.d
install_packages() {
    local names
    services=()
    read -ra names <<<"$packages"
    say "Installing through apt: ${names[*]}"
    trap 'as_root rm -f $CREATECLUSTER/scru.conf; as_root rmdir --ignore-fail-on-non-empty $CREATECLUSTER; restore_services' EXIT
    forbid_services &&
        as_root mkdir -p "$CREATECLUSTER" &&
        as_root tee "$CREATECLUSTER/scru.conf" <<<'create_main_cluster = false' >/dev/null &&
        { apt update || say 'apt-get update failed: using the existing package lists'; } &&
        apt install --yes --no-install-recommends "${names[@]}"
}
# Suspends needrestart, which would restart running servers.
apt() { as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -o Acquire::Retries=8 -o DPkg::Lock::Timeout=300 "$@"; }

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

install_missing() {
    is_debian || stop_here 'Missing packages can be installed on Debian only.'
    is_root || sudo -n true 2>/dev/null || stop_here 'Installing packages needs root, or sudo without a password.'
    (install_packages) || stop_here 'apt could not install the packages. To use a major version that apt has: make … PG_MAJOR=…'
    look_for_requirements "$@"
    [ ${#missing[@]} = 0 ] || stop_here 'apt has installed the packages, but some requirements are still not found.'
}

setup_rust() {
    require_rust
    [ "${1:-}" != test ] || { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 ||
        rustup component add rustfmt clippy || die 'rustfmt and clippy are missing.'
}

# Only the tests in the server (`cargo pgrx test`) need cargo-pgrx.
setup_cargo_pgrx() {
    mkdir -p "$PGRX_HOME"
    # Written only if it differs: a newer file would cause all bindings to be rebuilt.
    local config="[configs]
pg$PG_MAJOR = \"$PG_CONFIG\""
    [ "$(cat "$PGRX_HOME/config.toml" 2>/dev/null)" = "$config" ] || echo "$config" >"$PGRX_HOME/config.toml"
    is_cargo_pgrx "$CARGO_PGRX" && return
    say "Building cargo-pgrx $PGRX_VERSION into $TOOLS (once; some minutes)"
    # The default features are for downloads, which are not used here, and need OpenSSL.
    cargo install --locked --debug --no-default-features --root "$TOOLS" "cargo-pgrx@$PGRX_VERSION"
}

look_for_requirements "$@"
[ ${#missing[@]} = 0 ] || install_missing "$@"
[ "${1:-}" = report ] || setup_rust "$@"
[ "${1:-}" != pgrx ] || setup_cargo_pgrx
