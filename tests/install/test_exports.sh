#!/usr/bin/env bash
# A shared library has the functions of the public header, and nothing else.
# Arguments: a C compiler, the source folder, the static library, the shared one where there is one.
set -euo pipefail
cc=$1 source=$2 archive=$3 shared=${4:-}
command -v nm >/dev/null || { echo "skipped: there is no nm (binutils)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Functions that the header declares LUMEQ_API.
"$cc" -E -P "$source/include/lumeq/lumeq.h" | tr '\n' ' ' |
    grep -oE 'visibility\("default"\)\)\)[^;]*;' | sed -E 's/^[^;]*[ *](lumeq_[a-z0-9_]+) *\(.*/\1/' |
    sort >"$work/header"
[ "$(wc -l <"$work/header")" -gt 20 ] || { echo "the header is not understood" >&2; exit 1; }
! grep -vE '^lumeq_[a-z0-9_]+$' "$work/header" || exit 1

compare() { # LIBRARY
    nm -D --defined-only "$1" | sed -E 's/.* //; s/@.*//' | sort >"$work/library"
    if ! diff -u "$work/header" "$work/library"; then
        echo "${1##*/} does not have what the header has" >&2
        failed=1
    fi
}

# A build without a shared library has the objects for one.
"$cc" -shared -o "$work/liblumeq.so" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
compare "$work/liblumeq.so"
[ -z "$shared" ] || compare "$shared"
exit "$failed"
