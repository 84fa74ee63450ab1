#!/usr/bin/env bash
# The installed library as an embedder uses it: header, library and pkg-config file, from C and C++.
# Arguments: cmake, the build folder, a C compiler, a C++ compiler or nothing.
set -euo pipefail
cmake=$1 build=$2 cc=$3 cxx=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/usr" >/dev/null
pc=$(find "$work/usr" -name lumeq.pc)
cat >"$work/embed.c" <<'END'
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    unsigned char luma[64], out[64];
    LumeqEqualizer *eq;
    LumeqFrame frame;
    memset(luma, 77, sizeof(luma));
    memset(&frame, 0, sizeof(frame));
    frame.in.plane[0] = luma;
    frame.in.stride[0] = frame.in.width = frame.in.height = frame.in.depth = 8;
    frame.out = frame.in;
    frame.out.plane[0] = out;
    if (lumeq_create(&eq, NULL, NULL, 0) < 0 || lumeq_submit(eq, &frame) < 0)
        return 1;
    lumeq_flush(eq);
    if (lumeq_receive(eq, &frame, NULL) < 0 || memcmp(luma, out, sizeof(out)) != 0)
        return 2;
    lumeq_destroy(&eq);
    printf("%s\n", lumeq_version());
    return 0;
}
END
cp "$work/embed.c" "$work/embed.cpp"
export PKG_CONFIG_PATH=${pc%/*}
flags=$(pkg-config --cflags --libs lumeq)
export LD_LIBRARY_PATH=$(dirname "$(find "$work/usr" -name 'liblumeq*' | head -n 1)")
# shellcheck disable=SC2086 # words
"$cc" -Wall -Werror "$work/embed.c" -o "$work/embed" $flags
[ "$("$work/embed")" = "$(pkg-config --modversion lumeq)" ]
if [ -n "$cxx" ]; then
    # shellcheck disable=SC2086
    "$cxx" -Wall -Werror "$work/embed.cpp" -o "$work/embed++" $flags
    "$work/embed++" >/dev/null
fi
