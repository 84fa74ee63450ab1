#!/usr/bin/env bash
# find_package(lumeq) as an embedder uses it: installed below DESTDIR and moved, accepted and refused
# versions, each target linked and run; without a shared library, and with one from the same objects.
# Arguments: cmake, the source folder, the build folder, a C compiler, ON where the build has a shared
# library.
set -euo pipefail
cmake=$1 source=$2 build=$3 cc=$4 shared=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "$*" >&2
    exit 1
}

version=$(sed -n 's/^#define LUMEQ_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "$source/include/lumeq/lumeq.h" |
    paste -sd .)
DESTDIR=$work/root "$cmake" --install "$build" --prefix /opt/lumeq >/dev/null
mv "$work/root/opt/lumeq" "$work/moved"
! grep -rIl "$work/root" "$work/moved" || fail "what is installed names DESTDIR"

configure() { # VERSION
    rm -rf "$work/build"
    "$cmake" -S "$here/find_package" -B "$work/build" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$work/moved" -DSOURCE="$here/installed.c" -DVERSION="$1" >"$work/log" 2>&1
}

configure "$version" || fail "$(cat "$work/log")"
"$cmake" --build "$work/build" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
kinds=(lumeq static)
[ "$shared" != ON ] || kinds+=(shared)
for kind in "${kinds[@]}"; do
    [ "$("$work/build/embed-$kind")" = "$version" ] || fail "embed-$kind has another version"
done
[ "$shared" = ON ] || [ ! -e "$work/build/embed-shared" ] || fail "there is a target without a library"
# Only programs linked with the shared library need it to run.
if command -v readelf >/dev/null; then
    needed() { readelf -d "$work/build/embed-$1" | grep -q 'NEEDED.*liblumeq'; }
    ! needed static || fail "lumeq::static needs the shared library"
    [ "$shared" != ON ] || needed lumeq || fail "lumeq::lumeq is not the shared library"
fi
# Before 1.0 another minor version may be incompatible.
! configure 0.8.0 || fail "another version is taken for this one"
grep -q lumeq "$work/log" || fail "$(cat "$work/log")"
