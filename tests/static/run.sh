#!/usr/bin/env bash
# Checks sources with clang-tidy (.clang-tidy) and cppcheck. Exit code: 0 nothing found, 1 findings,
# 77 a tool is missing.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

usage() {
    cat <<END
usage: run.sh [all | REV]

Checks the C files of src/ that have changed since the commit REV, but only the latest $most files.
Default of REV: where the branch left main; on main, $commits commits ago. If x.h has changed, x.c is
checked. "all" checks all files, which takes 8 minutes on two cores.
END
}

most=20 commits=20
what=${1:-}
case $what in
-h | --help) usage && exit 0 ;;
-*) fail "unknown argument $what (allowed: all, a commit)" ;;
esac
cd -- "$root"
for tool in clang-tidy cppcheck; do
    have "$tool" || { say "skipped: $tool is not installed" && exit 77; }
done
git rev-parse --quiet --verify HEAD >/dev/null || { say "skipped: not a git checkout" && exit 77; }

# Lists all sources, except device code and plugins: they need headers of other programs.
every_file() {
    git ls-files 'src/*.c' | grep -vE '^src/(plugins|bench/gpu)|/cuda/|cuda\.c$|src/media/gpu_device\.c'
}

# Lists the sources changed since a commit, the latest changes first.
changed_files() {
    local since=$1
    { git diff --name-only HEAD && git log --format= --name-only "$since..HEAD"; } |
        sed -n 's/^\(src\/.*\)\.[ch]$/\1.c/p' | awk '!seen[$0]++' |
        grep -Fxf <(every_file) || true
}

if [ "$what" = all ]; then
    mapfile -t files < <(every_file)
else
    since=${what:-$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)}
    [ -n "$what" ] || [ "$since" != "$(git rev-parse HEAD)" ] ||
        since=$(git rev-list --max-count=$((commits + 1)) HEAD | tail -n 1)
    git rev-parse --quiet --verify "$since^{commit}" >/dev/null || fail "$since is no commit"
    mapfile -t files < <(changed_files "$since")
    if [ "${#files[@]}" -gt "$most" ]; then
        say "Only the latest $most files are checked. Not checked: ${files[*]:$most}"
        files=("${files[@]:0:$most}")
    fi
fi
[ "${#files[@]}" -gt 0 ] || { say "no source has changed" && exit 0; }

build=build/static
[ -f "$build/compile_commands.json" ] ||
    cmake --preset release -B "$build" -DLUMEQ_CUDA=OFF -DBUILD_TESTING=OFF >/dev/null

# Prints each finding once, except those that accepted.txt lists.
new_findings() {
    sed -n "s|^$root/||p" | grep -E ': (warning|error): ' | sort -u |
        grep -vEf <(sed -n 's/^\([^# ]*\) \([a-zA-Z.-]*\) .*/^\1:.*\\[\2[],]/p' tests/static/accepted.txt) || true
}

# Checks a file. Files that define functions of analyzer.h must not include it.
tidy() {
    local include=(--extra-arg=-include "--extra-arg=$root/tests/static/analyzer.h")
    case $1 in
    src/media/error.c | src/equalizer/last_error.c | src/job/part_files.c) include=() ;;
    esac
    clang-tidy -p "$build" --quiet "${include[@]}" "$1" 2>/dev/null || true
}
export -f tidy
export build root

found=$(printf '%s\n' "${files[@]}" | xargs -P "$(cores)" -I{} bash -c 'tidy {}' | new_findings)
found+=$(printf '%s\n' "${files[@]}" | cppcheck --file-list=- -j "$(cores)" --quiet --std=c11 \
    --enable=warning,portability,performance --suppress=internalAstError -D_GNU_SOURCE -Isrc -Iinclude \
    --suppressions-list=<(
        sed -n 's/^\([^# ]*\) \([a-zA-Z]*\) .*/\2:\1/p' tests/static/accepted.txt
    ) --template='{file}:{line}: {severity}: {message} [{id}]' 2>&1)
say "${#files[@]} files checked"
[ -z "$found" ] || { printf '%s\n' "$found" && exit 1; }
