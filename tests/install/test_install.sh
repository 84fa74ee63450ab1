#!/usr/bin/env bash
# Builds a C and a C++ program with the installed header, library and pkg-config file, as an embedder does.
# The programs must find a library in any prefix without LD_LIBRARY_PATH.
# Arguments: cmake, the build folder, a C compiler, a C++ compiler or "".
set -euo pipefail
cmake=$1 build=$2 cc=$3 cxx=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/usr" >/dev/null
pc=$(find "$work/usr" -name lumeq.pc)
here=$(dirname -- "${BASH_SOURCE[0]}")
cp "$here/installed.c" "$work/embed.c"
cp "$work/embed.c" "$work/embed.cpp"
export PKG_CONFIG_PATH=${pc%/*}
flags=$(pkg-config --cflags --libs lumeq)
unset LD_LIBRARY_PATH
# shellcheck disable=SC2086 # words
"$cc" -Wall -Wextra -Wpedantic -Werror "$work/embed.c" -o "$work/embed" $flags
[ "$("$work/embed")" = "$(pkg-config --modversion lumeq)" ]
if [ -n "$cxx" ]; then
    # shellcheck disable=SC2086
    "$cxx" -Wall -Wextra -Wpedantic -Werror "$work/embed.cpp" -o "$work/embed++" $flags
    "$work/embed++" >/dev/null
fi
