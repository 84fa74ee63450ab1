#!/usr/bin/env bash
# The library alone, with -DLUMEQ_PROGRAM=OFF: it configures, builds and installs where pkg-config finds
# no package, a program starts with the flags of its lumeq.pc, and README's example compiles and runs.
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
mv "$work/a prefix" "$work/prefix" # lumeq.pc allows moving
[ ! -e "$work/prefix/bin" ] || fail "programs were installed: $(ls "$work/prefix/bin")"
[ ! -e "$work/prefix/share" ] || fail "files of the programs were installed: $(find "$work/prefix/share")"

pc=$(dirname "$(find "$work/prefix" -name lumeq.pc)")
flags=$(PKG_CONFIG_LIBDIR=$pc pkg-config --cflags --libs lumeq)
# The example, as the body of a program that equalizes one frame.
{
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
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$source/include/lumeq/README.md"
    cat <<'END'
    for (int i = 0; i < width * height; i++)
        if (out[0][i] != in[0][i])
            return 0;
    return 3;
}
END
} >"$work/example.c"
# shellcheck disable=SC2086 # words
"$cc" -Wall -Werror "$work/example.c" -o "$work/example" $flags || fail "$(cat "$work/example.c")"
"$work/example" || fail "the example of README.md exits with $?"
ldd "$work/example" >"$work/libraries"
grep -q "liblumeq.so.* => $work/prefix" "$work/libraries" || fail "$(cat "$work/libraries")"
