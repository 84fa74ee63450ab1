#!/usr/bin/env bash
# Tests the library alone, with -DLUMEQ_PROGRAM=OFF: it must build and install even if pkg-config finds no
# packages, and the example of the library's page must compile and run with the flags of lumeq.pc. The README's
# commands for OBS must install a filter that finds its symbols.
# Arguments: cmake, the source folder, a C compiler, options for cmake.
set -euo pipefail
cmake=$1 source=$2 cc=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH PKG_CONFIG_PATH

fail() {
    echo "$*" >&2
    exit 1
}

mkdir "$work/empty"
PKG_CONFIG_LIBDIR=$work/empty "$cmake" -S "$source" -B "$work/build" -DCMAKE_C_COMPILER="$cc" \
    -DLUMEQ_PROGRAM=OFF -DLUMEQ_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug "$@" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
"$cmake" --build "$work/build" --parallel 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
"$cmake" --install "$work/build" --prefix "$work/a prefix" >"$work/log" || fail "$(cat "$work/log")"
mv "$work/a prefix" "$work/prefix" # lumeq.pc has relative paths
[ ! -e "$work/prefix/bin" ] || fail "programs were installed: $(ls "$work/prefix/bin")"
[ ! -e "$work/prefix/share" ] || fail "files of the programs were installed: $(find "$work/prefix/share")"

pc=$(dirname "$(find "$work/prefix" -name lumeq.pc)")
flags=$(PKG_CONFIG_LIBDIR=$pc pkg-config --cflags --libs lumeq)
# Prints a program that equalizes one frame with the example of a page.
example() {
    cat <<'END'
#include <lumeq/lumeq.h>
#include <stdio.h>
enum { width = 64, height = 48 };
static unsigned char in[3][width * height], out[3][width * height];
static void *planes[3] = {in[0], in[1], in[2]}, *out_planes[3] = {out[0], out[1], out[2]};
static const int strides[3] = {width, width, width}, out_strides[3] = {width, width, width};
int main(void)
{
    const long long time_in_ns = 0;
    for (int i = 0; i < width * height; i++)
        in[0][i] = (unsigned char)(40 + i % 20);
END
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$1"
    cat <<'END'
    for (int i = 0; i < width * height; i++)
        if (out[0][i] != in[0][i])
            return 0;
    return 3;
}
END
}
example "$source/include/lumeq/README.md" >"$work/example.c"
# shellcheck disable=SC2086 # words
"$cc" -Wall -Werror "$work/example.c" -o "$work/example" $flags || fail "$(cat "$work/example.c")"
"$work/example" || fail "the example of the library's page exits with $?"
ldd "$work/example" >"$work/libraries"
grep -q "liblumeq.so.* => $work/prefix" "$work/libraries" || fail "$(cat "$work/libraries")"

if ! pkg-config --exists libobs; then
    echo "not tested: the README's commands for OBS, because libobs-dev is not installed"
    exit 0
fi
"$cmake" "$work/build" -DLUMEQ_OBS=ON >"$work/log" 2>&1 || fail "$(cat "$work/log")"
"$cmake" --build "$work/build" --parallel 2 >"$work/log" 2>&1 || fail "$(cat "$work/log")"
ln -s . "$work/build/obs" # The README builds in build/obs. The link avoids a second build
line=$(grep '^mkdir -p ~/.config/obs-studio' "$source/README.md")
(cd "$work" && HOME=$work/home bash -c "$line")
ldd -r "$work/home/.config/obs-studio/plugins/lumeq/bin/64bit/lumeq.so" >"$work/libraries"
! grep -qE "not found|undefined symbol" "$work/libraries" || fail "$(cat "$work/libraries")"
