#!/usr/bin/env bash
# fuzz.sh SECONDS [keep]: fuzzes each target for SECONDS, starting from the inputs in fuzz/corpus. The targets are the text input
# and the binary input of each type. With `keep`, adds the inputs that reached new code to fuzz/corpus, to be committed. The file
# of a target has one input per line, in hexadecimal digits.
#
# The compiler instruments the code with coverage counters, by which libFuzzer selects inputs. Stable Rust is sufficient.
source "$(dirname "$0")/lib/env.sh"
SECONDS_EACH=${1:?missing number of seconds}
WORK=$ROOT/target/fuzz
HOST=$(rustc --print host-tuple)
FUZZER=$WORK/$HOST/fuzz/scru-fuzz

build() {
    local pass=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4)
    local feature
    for feature in inline-8bit-counters pc-table trace-compares; do
        pass+=("-Cllvm-args=-sanitizer-coverage-$feature")
    done
    # With --target, RUSTFLAGS do not apply to build scripts and procedural macros.
    RUSTFLAGS="${pass[*]} -Ccodegen-units=1" \
        cargo build --quiet --profile fuzz --package scru-fuzz --target "$HOST" --target-dir "$WORK"
}

# Succeeds if the log shows coverage counters. Without them libFuzzer only warns.
is_guided() { grep -q 'INFO: Loaded 1 modules .*inline 8-bit counters' "$1"; }

# libFuzzer reads a directory with one file for each input.
unpack() {
    local input number=0
    [ -f "$1" ] || return 0
    while read -r input; do
        number=$((number + 1))
        basenc --base16 --decode <<<"${input^^}" >"$2/$number"
    done <"$1"
}
pack() { find "$1" -type f -exec sh -c 'for file; do basenc --base16 --wrap=0 "$file" && echo; done' sh {} + | tr A-F a-f | LC_ALL=C sort; }

fuzz() {
    local target=$1 kept=$WORK/kept/$1 found=$WORK/corpus/$1 log=$WORK/$1.log
    rm -rf "$kept" "$found"
    mkdir -p "$kept" "$found"
    unpack "fuzz/corpus/$target" "$kept"
    if FUZZ_TARGET=$target "$FUZZER" -max_total_time="$SECONDS_EACH" -max_len=200 -timeout=60 \
        -artifact_prefix="$WORK/$target-" "$found" "$kept" >"$log" 2>&1 && is_guided "$log"; then
        printf 'test %-20s ... ok %s\n' "$target" "$(sed -n 's/^\(#[0-9]*\)\tDONE *\(.*\) corp:.*/\1 inputs, \2/p' "$log")"
    else
        printf 'test %-20s ... FAILED\n' "$target"
        tail -n 40 "$log"
        echo "To reproduce a failure, with its file in $WORK: FUZZ_TARGET=$target $FUZZER FILE"
        failed=1
    fi
}

# Adds to the corpus the inputs that reached code which the present ones do not reach.
keep() {
    FUZZ_TARGET=$1 "$FUZZER" -merge=1 -max_len=200 "$WORK/kept/$1" "$WORK/corpus/$1" >"$WORK/$1.merge.log" 2>&1
    pack "$WORK/kept/$1" >"fuzz/corpus/$1"
    sed -n 's/^MERGE-OUTER: \([0-9]* new files\).*added/     \1/p' "$WORK/$1.merge.log"
}

failed=0
build
for target in $(FUZZ_TARGET='' "$FUZZER" 2>/dev/null); do
    fuzz "$target"
    if [ "${2:-}" = keep ] && [ "$failed" = 0 ]; then keep "$target"; fi
done
exit "$failed"
