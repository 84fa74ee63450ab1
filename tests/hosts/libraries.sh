#!/usr/bin/env bash
# Builds liblumeq and its wheels for all systems with src/packaging/build_library.sh. A program that uses the library
# must produce the same frames on Linux, under wine, and on 64-bit ARM in QEMU. For macOS, the program is only linked.
# Needs a network; installs wine, QEMU, and SIMDe's headers.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

skip() {
    say "skipped: $1"
    exit 77
}

[ "$(uname -sm)" = "Linux x86_64" ] || skip "this test needs Linux on x86-64"
wine=/usr/lib/wine/wine64 arm=/usr/aarch64-linux-gnu
(prepare 1 python3 "$wine=wine64" qemu-aarch64-static=qemu-user-static "$arm/lib/libc.so.6=libc6-arm64-cross") ||
    skip "a package cannot be installed"
missing=libsimde-dev
[ -e /usr/include/simde ] || (install_packages) || skip "libsimde-dev cannot be installed"

work=$root/build/library
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q ziglang scikit-build-core wheel auditwheel || skip "pip cannot download ziglang"
PATH=$work/venv/bin:$PATH
export WINEPREFIX=$work/wine WINEDEBUG=-all

# Links frame_hashes.c with TARGET's library.
linked() { # TARGET PROGRAM
    local folder
    folder=$(echo "$work/$1"/liblumeq-*/)
    PKG_CONFIG_LIBDIR=$folder/lib/pkgconfig
    export PKG_CONFIG_LIBDIR
    # shellcheck disable=SC2046 # words
    "$work/$1/tools/cc" -O2 "$root/tests/hosts/frame_hashes.c" -o "$work/$1/$2" $(pkg-config --cflags --libs lumeq)
}

same() { # SYSTEM
    cmp "$work/here" "$work/there" || fail "$1: the frames differ from those on Linux"
    say "$1: same frames as on Linux"
}

cuda=()
! have nvcc || cuda=(-DLUMEQ_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real)
for target in x86_64-linux x86_64-windows aarch64-linux aarch64-macos x86_64-macos; do
    say "---- $target"
    arguments=()
    [ "$target" != x86_64-linux ] || arguments=("${cuda[@]}")
    "$root/src/packaging/build_library.sh" "$target" "${arguments[@]}" >"$work/log" 2>&1 || fail "$(tail -n 30 "$work/log")"
    tail -n 1 "$work/log"
    case $target in
    x86_64-linux)
        linked $target hashes
        "$work/$target/hashes" | tee "$work/here"
        auditwheel show "$work"/lumeq-*-manylinux_2_28_x86_64.whl | tee "$work/log"
        grep -qE '"manylinux_2_([0-9]|1[0-9]|2[0-8])_x86_64"' "$work/log" || fail "the wheel needs a newer glibc than 2.28"
        ;;
    x86_64-windows)
        linked $target hashes.exe
        cp "$work/$target"/liblumeq-*/bin/liblumeq.dll "$work/$target"
        "$wine" "$work/$target/hashes.exe" | tr -d '\r' >"$work/there"
        same "Windows, under wine"
        ;;
    aarch64-linux)
        linked $target hashes
        qemu-aarch64-static -L $arm "$work/$target/hashes" >"$work/there"
        same "64-bit ARM, in QEMU"
        ;;
    *)
        linked $target hashes
        say "$target: linked, but not run"
        ;;
    esac
done
