#!/usr/bin/env bash
# fuzz.sh SECONDS [keep]: fuzzes text and binary input of each type for so long, beginning with the inputs that were kept in
# fuzz/corpus. With `keep`, inputs that reached new code are kept there, too: commit them.
#
# The compiler counts what is reached, libFuzzer makes inputs from those that reached more: a stable Rust does for both.
source "$(dirname "$0")/env.sh"
SECONDS_EACH=${1:?for how many seconds each?}
WORK=$ROOT/target/fuzz
HOST=$(rustc --print host-tuple)
FUZZER=$WORK/$HOST/fuzz/scru-fuzz

build() {
    local pass=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4)
    local feature
    for feature in inline-8bit-counters pc-table trace-compares; do
        pass+=("-Cllvm-args=-sanitizer-coverage-$feature")
    done
    # With a target named, what runs only in the build is built as ever.
    RUSTFLAGS="${pass[*]} -Ccodegen-units=1" \
        cargo build --quiet --profile fuzz --package scru-fuzz --target "$HOST" --target-dir "$WORK"
}

# libFuzzer itself only warns of a program that counts nothing.
is_guided() { grep -q 'INFO: Loaded 1 modules .*inline 8-bit counters' "$1"; }

fuzz() {
    local target=$1 kept=fuzz/corpus/$1 found=$WORK/corpus/$1 log=$WORK/$1.log
    rm -rf "$found"
    mkdir -p "$kept" "$found"
    if FUZZ_TARGET=$target "$FUZZER" -max_total_time="$SECONDS_EACH" -max_len=200 -timeout=10 \
        -artifact_prefix="$WORK/$target-" "$found" "$kept" >"$log" 2>&1 && is_guided "$log"; then
        printf 'test %-20s ... ok %s\n' "$target" "$(sed -n 's/^\(#[0-9]*\)\tDONE *\(.*\) corp:.*/\1 inputs, \2/p' "$log")"
    else
        printf 'test %-20s ... FAILED\n' "$target"
        tail -n 40 "$log"
        echo "What is found in $WORK can be tried again: FUZZ_TARGET=$target $FUZZER FILE"
        failed=1
    fi
}

# What reached more than the inputs that are there already.
keep() {
    FUZZ_TARGET=$1 "$FUZZER" -merge=1 -max_len=200 "fuzz/corpus/$1" "$WORK/corpus/$1" >"$WORK/$1.merge.log" 2>&1
    sed -n 's/^MERGE-OUTER: \([0-9]* new files\).*added/     \1/p' "$WORK/$1.merge.log"
}

failed=0
build
for target in $(FUZZ_TARGET='' "$FUZZER" 2>/dev/null); do
    fuzz "$target"
    if [ "${2:-}" = keep ] && [ "$failed" = 0 ]; then keep "$target"; fi
done
exit "$failed"
