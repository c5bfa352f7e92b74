#!/usr/bin/env bash
# arm64.sh: runs the tests of scru-ids that compare it with vectors, references and another cipher, and those of atomic operations,
# for arm64, in an emulator if the machine has another architecture. Checks that the extension compiles for it.
# arm64.sh available: installs Rust's standard library for arm64 if it is missing. Succeeds if it is available.
source "$(dirname "$0")/env.sh"

TARGET=aarch64-unknown-linux-gnu
SYSROOT=/usr/aarch64-linux-gnu
is_available() { [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET" ] || rustup --quiet target add "$TARGET" >/dev/null 2>&1; }
if [ "${1:-}" = available ]; then is_available && exit || exit 1; fi
is_available || die "Rust's standard library for $TARGET is missing. Run: rustup target add $TARGET"
tools/setup.sh arm64

if [ "$(uname -m)" != aarch64 ]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    # The timeout turns an emulator that hangs into a failure.
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="timeout --foreground 600 qemu-aarch64 -L $SYSROOT"
    # pgrx must not add the directories that this machine's clang searches: they have the C library's headers of this machine.
    export PGRX_BINDGEN_NO_DETECT_INCLUDES=1
    # bindgen finds the C library's headers in arm64's sysroot. The server's headers include those of other libraries, such as
    # ICU, which are in this machine's /usr/include. bindgen searches it last.
    export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu="--sysroot=$SYSROOT -isystem $SYSROOT/include -idirafter /usr/include"
fi
# Optimized, because the emulator runs the instructions one by one. Debug assertions remain.
CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo test --locked --no-fail-fast --target "$TARGET" --package scru-ids --features encryption \
    --test vectors --test 'reference*' --test encryption --test generator
cargo check --locked --target "$TARGET" --package scru --lib "${FEATURES[@]}"
