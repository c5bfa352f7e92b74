#!/usr/bin/env bash
# Tests for arm64 on another machine: the pure crate's tests in an emulator, and whether the extension compiles. Rust's standard
# library for arm64 has to be there: rustup target add aarch64-unknown-linux-gnu
source "$(dirname "$0")/env.sh"

TARGET=aarch64-unknown-linux-gnu
SYSROOT=/usr/aarch64-linux-gnu
[ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET" ] || die "Rust for $TARGET is missing: rustup target add $TARGET"
tools/setup.sh arm64

if [ "$(uname -m)" != aarch64 ]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $SYSROOT"
    # The server's headers are those of this machine; the C library's come first.
    export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu="--sysroot=$SYSROOT -isystem $SYSROOT/include -idirafter /usr/include"
fi
cargo test --locked --no-fail-fast --target "$TARGET" --package scru-ids
cargo check --locked --target "$TARGET" --package scru --lib "${FEATURES[@]}"
