#!/usr/bin/env bash
# Builds the VapourSynth filter for Windows with the library that libraries.sh built, and runs test_vapoursynth.c under
# wine with the core from VapourSynth's wheel for Windows. Needs a network and wine.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

skip() {
    say "skipped: $1"
    exit 77
}

library=$root/build/library/x86_64-windows/build/liblumeq.a cc=$root/build/library/x86_64-windows/tools/cc
wine=/usr/lib/wine/wine64
[ -e "$library" ] || skip "libraries.sh has not built the library for Windows"
[ -x $wine ] || skip "wine64 is not installed"
PATH=$root/build/library/venv/bin:$PATH

work=$root/build/ci/windows_vapoursynth
mkdir -p "$work/shim"
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --platform win_amd64 -d "$work" vapoursynth ||
    skip "pip cannot download VapourSynth"
python3 -m zipfile -e "$work"/vapoursynth-*.whl "$work"

# Replaces the Linux functions that the test calls.
cat >"$work/shim/dlfcn.h" <<'END'
#pragma once
#include <malloc.h>
#include <windows.h>
#define RTLD_NOW 0
#define dlopen(path, flags) ((void *)LoadLibraryA(path))
#define dlsym(library, name) ((void *)GetProcAddress((HMODULE)library, name))
#define dlerror() "the core cannot be loaded"
#define posix_memalign(memory, alignment, size) (!(*(memory) = _aligned_malloc(size, alignment)))
END
include=("-I$root/include" -isystem "$work/vapoursynth/include")
"$cc" -O2 -std=c11 "${include[@]}" -shared "$root/src/plugins/vapoursynth/vs_lumeq.c" "$library" -lpthread \
    -o "$work/vslumeq.dll"
"$cc" -O1 -std=c11 -w "${include[@]}" "-I$work/shim" -include dlfcn.h -DLUMEQ_VS_PLUGIN="\"Z:$work/vslumeq.dll\"" \
    -DLUMEQ_VAPOURSYNTH_LIBRARY="\"Z:$work/vapoursynth/libvapoursynth.dll\"" "$root/tests/plugins/test_vapoursynth.c" \
    "$library" -lpthread -o "$work/test.exe"
WINEPREFIX=$work/wine WINEDEBUG=-all "$wine" "$work/test.exe"
