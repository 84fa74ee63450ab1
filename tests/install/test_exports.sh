#!/usr/bin/env bash
# The shared library must export exactly the functions of the public header.
# Arguments: a C compiler, the source folder, the static library, the shared library if there is one.
set -euo pipefail
cc=$1 source=$2 archive=$3 shared=${4:-}
command -v nm >/dev/null || { echo "skipped: nm (binutils) is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# Functions that the header declares LUMEQ_API.
"$cc" -E -P "$source/include/lumeq/lumeq.h" | tr '\n' ' ' |
    grep -oE 'visibility\("default"\)\)\)[^;]*;' | sed -E 's/^[^;]*[ *](lumeq_[a-z0-9_]+) *\(.*/\1/' |
    sort >"$work/header"
[ "$(wc -l <"$work/header")" -gt 20 ] || { echo "fewer than 21 functions were found in the header" >&2; exit 1; }
! grep -vE '^lumeq_[a-z0-9_]+$' "$work/header" || exit 1

compare() { # LIBRARY
    nm -D --defined-only "$1" | sed -E 's/.* //; s/@.*//' | sort >"$work/library"
    if ! diff -u "$work/header" "$work/library"; then
        echo "${1##*/} exports other functions than the header declares" >&2
        failed=1
    fi
}

# The build may have no shared library, so link one from the static library.
"$cc" -shared -o "$work/liblumeq.so" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
compare "$work/liblumeq.so"
[ -z "$shared" ] || compare "$shared"
exit "$failed"
