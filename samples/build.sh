# shellcheck shell=bash
# Shared by samples/demo.sh and tests/run.sh: finds and installs the packages of a build, and decides
# whether to build with CUDA. Source it under `set -euo pipefail`.

# shellcheck disable=SC2034 # used by the scripts that source this
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cmake_needed=3.25

say() {
    printf '%s\n' "$*"
}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

has_cmake() {
    have cmake || return 1
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9][0-9.]*\).*/\1/p')
    [ "$(printf '%s\n%s\n' "$cmake_needed" "$version" | sort -V | head -n 1)" = "$cmake_needed" ]
}

has_module() {
    have pkg-config && pkg-config --exists "$1"
}

has_font() {
    local folder
    for folder in /usr/share/fonts /usr/local/share/fonts "${HOME:-/}/.fonts" \
        "${HOME:-/}/.local/share/fonts" /System/Library/Fonts; do
        if [ -d "$folder" ] && [ -n "$(find -L "$folder" \( -name '*.ttf' -o -name '*.otf' \
            -o -name '*.ttc' \) -print 2>/dev/null | head -n 1)" ]; then
            return 0
        fi
    done
    return 1
}

# Prints the missing Debian packages. Arguments are further requirements: COMMAND, if its package has
# the same name; COMMAND=PACKAGES; or MODULE:PACKAGE for a pkg-config module.
missing_packages() {
    { have cc && have make; } || say build-essential
    has_cmake || say cmake
    have pkg-config || say pkg-config
    local module
    for module in libavformat libavfilter libavcodec libavutil libswscale libswresample libass; do
        has_module "$module" || say "$module-dev"
    done
    has_module sdl2 || say libsdl2-dev
    has_module zlib || say zlib1g-dev
    has_module libseccomp || say libseccomp-dev
    [ "$(uname -m)" != aarch64 ] || [ -e /usr/include/simde ] || say libsimde-dev
    has_font || say fonts-dejavu-core
    local tool
    for tool in "$@"; do
        case $tool in
        *:*) has_module "${tool%:*}" || say "${tool#*:}" ;;
        *=*) have "${tool%%=*}" || say "${tool#*=}" ;;
        *) have "$tool" || have "${tool^}" || say "$tool" ;; # the package xvfb has the command Xvfb
        esac
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

install_packages() {
    [ "$(id -u)" = 0 ] || have sudo ||
        fail "not root, and there is no sudo: install these first: $missing"
    local log=$root/build/packages.log
    mkdir -p -- "$root/build"
    say "Installing with apt-get (often 2 to 10 minutes; log: build/packages.log): $missing"
    as_root apt-get update -q >"$log" 2>&1 ||
        say "apt-get update failed; using the package lists on this machine"
    # shellcheck disable=SC2086 # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        $missing >>"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "apt-get could not install: $missing; see $log"
    }
}

# prepare INSTALL TOOL...: installs missing packages if INSTALL is 1 and apt-get exists; otherwise lists them.
prepare() {
    local install=$1
    shift
    missing=$(missing_packages "$@" | tr '\n' ' ')
    missing=${missing% }
    if [ -n "$missing" ] && [ "$install" = 1 ] && have apt-get; then
        install_packages
        missing=$(missing_packages "$@" | tr '\n' ' ')
        missing=${missing% }
        [ -z "$missing" ] || fail "still missing after the installation: $missing"
    elif [ -n "$missing" ]; then
        say "Missing packages (Debian and Ubuntu names): $missing"
    fi
    { have cc && have make; } || fail "a C compiler and make are needed (build-essential)"
    has_cmake || fail "CMake $cmake_needed or newer is needed"
    if ! have nvcc && [ -x /usr/local/cuda/bin/nvcc ]; then
        PATH=$PATH:/usr/local/cuda/bin
    fi
}

# Compiling device code takes a minute for each GPU architecture, so build only for the GPU in this
# machine, or without CUDA if there is no GPU. Sets `cuda`, arguments for cmake. $1 tells users
# how to build with CUDA anyway.
choose_cuda() {
    cuda=(-DLUMEQ_CUDA=AUTO)
    have nvcc || return 0
    if nvidia-smi -L >/dev/null 2>&1; then
        cuda+=(-DCMAKE_CUDA_ARCHITECTURES=native)
    else
        cuda=(-DLUMEQ_CUDA=OFF)
        say "Building without CUDA, because nvidia-smi finds no GPU; $1"
    fi
}

cores() {
    nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || say 1
}
