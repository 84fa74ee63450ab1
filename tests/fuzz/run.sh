#!/usr/bin/env bash
# Fuzzes each target with libFuzzer and stores the minimized corpora. Needs clang.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

usage() {
    cat <<END
usage: run.sh [--seconds N] [TARGET...]

Builds the targets in build/fuzz and fuzzes each on all cores for N seconds (default: 600). Then it
minimizes the corpora in tests/fuzz/corpus. Inputs that crash a target are stored in
build/fuzz/findings, and the exit code is 1.
END
}

seconds=600 targets=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) fail "unknown argument $1 (allowed: --seconds)" ;;
    *) targets+=("$1") ;;
    esac
    shift
done
cd -- "$root"
have clang || fail "clang is not installed"
! have ninja || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
[ "${#targets[@]}" -gt 0 ] ||
    mapfile -t targets < <(sed -n 's/^lumeq_fuzz(\([a-z]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)

build=$root/build/fuzz
cmake --preset fuzz -B "$build" -DBUILD_TESTING=ON -DBUILD_SHARED_LIBS=OFF
cmake --build "$build" --parallel "$(cores)" --target make_seeds "${targets[@]/#/fuzz_}"

# Keep temporary files in memory, because the targets write one for each input.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm
export UBSAN_OPTIONS=print_stacktrace=1
mkdir -p "$build/findings" "$build/seeds"
"$build/tests/fuzz/make_seeds" "$build/seeds"

# A dictionary of option names and values, for the targets that parse them.
words=$build/words.dict
sed -n 's/[^"]*"\([^"]*\)"/\1\n/gp' src/app/options/option_{table,parser}.c |
    tr '|,[]/ ' '\n' | grep -E '^[a-z][a-z0-9_:-]{1,30}$' | sort -u | sed 's/.*/"&"/' >"$words"

fuzz() {
    local target=$1 work=$build/work/$1 program=$build/tests/fuzz/fuzz_$1 options=()
    mkdir -p "$work" "$root/tests/fuzz/corpus/$target"
    [ ! -d "$build/seeds/$target" ] || cp "$build/seeds/$target/"* "$work"
    cp "$root/tests/fuzz/corpus/$target/"* "$work" 2>/dev/null || true
    case $target in options | settings) options=("-dict=$words") ;; esac
    "$program" -fork="$(cores)" -ignore_crashes=1 -max_total_time="$seconds" -timeout=20 \
        -artifact_prefix="$build/findings/$target-" "${options[@]}" "$work" ||
        say "$target: libFuzzer ended with an error"
}

# Minimizes a corpus. Drops inputs over 16 KB except seeds. Keeps files that libFuzzer did not name, such as found-NAME.
store() {
    local target=$1 corpus=$root/tests/fuzz/corpus/$1 new=$build/new/$1 work=$build/work/$1
    rm -rf -- "$new"
    mkdir -p "$new"
    find "$work" -type f -size +16k -delete
    [ ! -d "$build/seeds/$target" ] || cp "$build/seeds/$target/"* "$work"
    "$build/tests/fuzz/fuzz_$target" -set_cover_merge=1 -use_counters=0 -timeout=20 \
        "$new" "$work" || return 1
    find "$corpus" -type f -regextype egrep -regex '.*/[0-9a-f]{40}' -delete
    cp "$new/"* "$corpus"
}

for target in "${targets[@]}"; do
    say
    say "==== $target ===="
    fuzz "$target"
    store "$target"
done
say
du -sh tests/fuzz/corpus
if [ -n "$(ls "$build/findings")" ]; then
    say "inputs that crash, in build/fuzz/findings:"
    ls "$build/findings"
    exit 1
fi
