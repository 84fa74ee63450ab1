#!/usr/bin/env bash
# Tests lumeq, without CUDA, on CPUs that QEMU emulates: 64-bit ARM and, on x86-64, CPUs without AVX2 or SSE4.2.
# The output must equal this machine's. LUMEQ names this machine's program; if unset, the program is built in
# build/ci/hosts/. Needs a network and 2 GB of disk, and installs a cross-compiler and QEMU. DEBIAN_MIRROR
# replaces Debian's own mirror.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

skip() {
    say "skipped: $1"
    exit 77
}

# The cross-compiler and the packages must have the same C library.
# shellcheck source=/dev/null
. /etc/os-release
[ "$ID" = debian ] || skip "the cross-compiler and the packages for ARM come from Debian, and this is $ID"
needed=(ffmpeg ninja=ninja-build aarch64-linux-gnu-gcc=crossbuild-essential-arm64
    qemu-aarch64-static=qemu-user-static)
(prepare 1 "${needed[@]}") || skip "a package cannot be installed"

work=$root/build/ci/arm64
export LUMEQ_ARM64_ROOT=$work/root
libraries=$LUMEQ_ARM64_ROOT/usr/lib/aarch64-linux-gnu

# Downloads and unpacks the packages that a build needs. Installing them would conflict with this machine's
# development packages.
fetch() {
    local apt=$work/apt package
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    : >"$apt/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "${DEBIAN_MIRROR:-http://deb.debian.org/debian} $VERSION_CODENAME main" >"$apt/sources"
    cat >"$apt/config" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::SourceList "$apt/sources";
Dir::Etc::SourceParts "-";
END
    export APT_CONFIG=$apt/config
    apt-get update -qq && apt-get install -qq --download-only --no-install-recommends libc6-dev libgcc-12-dev \
        libavfilter-dev libass-dev libsdl2-dev libseccomp-dev libsimde-dev zlib1g-dev >/dev/null || return 1
    unset APT_CONFIG
    rm -rf --one-file-system "$LUMEQ_ARM64_ROOT"
    for package in "$apt"/archives/*.deb; do
        dpkg-deb -x "$package" "$LUMEQ_ARM64_ROOT"
    done
    # Make the links that update-alternatives makes during an installation.
    ln -s blas/libblas.so.3 lapack/liblapack.so.3 "$libraries"
    touch "$work/fetched"
}

[ -e "$work/fetched" ] || fetch || skip "the packages for ARM cannot be downloaded"

say "---- build"
cmake --preset release -S "$root" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/tests/hosts/arm64.cmake" \
    -DLUMEQ_CUDA=OFF -DLUMEQ_WERROR=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=ON
cmake --build "$work/build" --parallel "$(cores)" --target lumeq tests/equalizer/all
if [ -z "${LUMEQ-}" ]; then
    cmake -S "$root" -B "$root/build/ci/hosts" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DLUMEQ_CUDA=OFF
    cmake --build "$root/build/ci/hosts" --parallel "$(cores)" --target lumeq
    LUMEQ=$root/build/ci/hosts/lumeq
fi

say "---- the equalizer's tests"
CHECK_SHORT=1 ctest --test-dir "$work/build" -R '^equalizer_' -j$((5 * $(cores) + 4)) --output-on-failure --no-tests=error \
    --timeout 1800

# The sandbox is off because it would filter the emulator's own system calls.
on_arm() {
    qemu-aarch64-static -L "$LUMEQ_ARM64_ROOT" "$work/build/lumeq" --sandbox off "$@"
}

on_nehalem() {
    qemu-x86_64-static -cpu Nehalem "$LUMEQ" --sandbox off "$@"
}

on_core2() {
    qemu-x86_64-static -cpu core2duo "$LUMEQ" --sandbox off "$@"
}

clip() { # NAME FILTERS
    ffmpeg -v error -nostdin -y -i "$root/samples/lumeq-sample.mkv" -frames:v 12 -vf "scale=640:360,$2" -an -c:v ffv1 "$work/$1"
}

# Checks that the output is the same as on this machine.
same() { # EMULATOR INPUT [options]
    "$LUMEQ" "$work/$2" -o "$work/here.y4m" -y "${@:3}" 2>/dev/null
    "$1" "$work/$2" -o "$work/there.y4m" -y "${@:3}" 2>/dev/null
    cmp "$work/here.y4m" "$work/there.y4m" || fail "different pictures: $*"
    say "same pictures: $*"
}

check() { # EMULATOR KERNELS
    say "---- the program: $1, $2"
    grep -q "$2 kernels" <<<"$("$1" --doctor --json)" || fail "$1: lumeq does not use the $2 kernels"
    for input in plain.mkv dark.mkv dark10.mkv; do
        same "$1" "$input"
        same "$1" "$input" --mode clahe
        same "$1" "$input" --chroma keep
    done
}

clip plain.mkv format=yuv420p
clip dark.mkv "lutyuv=y=val/3,noise=alls=6,format=yuv420p"
clip dark10.mkv "format=yuv420p10le,lutyuv=y=val/3"
check on_arm NEON
if [ "$(uname -m)" = x86_64 ]; then
    check on_nehalem SSE4.2
    check on_core2 "plain C"
fi
