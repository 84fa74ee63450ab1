#!/usr/bin/env bash
# Tests find_package(lumeq) with a moved installation. Only this version may be accepted, and programs
# that link each target must run.
# Arguments: cmake, the source folder, the build folder, a C compiler, ON if the build has a shared
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
! grep -rIl "$work/root" "$work/moved" || fail "installed files contain the path of DESTDIR"

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
    [ "$("$work/build/embed-$kind")" = "$version" ] || fail "embed-$kind prints another version than $version"
done
[ "$shared" = ON ] || [ ! -e "$work/build/embed-shared" ] || fail "lumeq::shared exists without a shared library"
if command -v readelf >/dev/null; then
    needed() { readelf -d "$work/build/embed-$1" | grep -q 'NEEDED.*liblumeq'; }
    ! needed static || fail "lumeq::static needs the shared library"
    [ "$shared" != ON ] || needed lumeq || fail "lumeq::lumeq is not the shared library"
fi
! configure 0.8.0 || fail "find_package accepts version 0.8.0"
grep -q lumeq "$work/log" || fail "$(cat "$work/log")"
