#!/usr/bin/env bash
# Tests lumeq.pc for the usual places of the library: /usr with a folder for each architecture, another
# prefix, and absolute folders. The library is installed below DESTDIR, and then moved.
# Arguments: cmake, the source folder, the build folder, a C compiler, options for cmake.
set -euo pipefail
cmake=$1 source=$2 build=$3 cc=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(dirname -- "${BASH_SOURCE[0]}")
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

fail() {
    echo "$*" >&2
    exit 1
}

# Configures a build folder with other options, and copies this build's files into it for installation.
configure() {
    "$cmake" -S "$source" -B "$work/configured" -DCMAKE_C_COMPILER="$cc" -DBUILD_TESTING=OFF \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_SKIP_RPATH=ON -DLUMEQ_OBS=OFF -DLUMEQ_GSTREAMER=OFF "$@" \
        >"$work/log" 2>&1 ||
        fail "$(cat "$work/log")"
    cp -P "$build"/lumeq "$build"/lumeq-bench "$build"/liblumeq.* "$build"/lumeq-params.hook \
        "$work/configured"
    cp -r "$build/manual" "$work/configured"
}

install_to() { # DESTDIR [arguments of cmake --install]
    local dest=$1
    shift
    rm -rf "$dest"
    DESTDIR=$dest "$cmake" --install "$work/configured" "$@" >/dev/null
}

ask() { # FOLDER arguments
    PKG_CONFIG_LIBDIR=$1 pkg-config "${@:2}" lumeq
}

expect_dir() { # FOLDER VARIABLE EXPECTED
    local dir
    dir=$(ask "$1" --variable="$2")
    [ "$(realpath -m "$dir")" = "$(realpath -m "$3")" ] || fail "$1: $2 is $dir, not $3"
}

# Checks that a program compiles, links and runs with the flags of lumeq.pc.
embed() { # FOLDER
    local flags libdir
    flags=$(ask "$1" --cflags --libs)
    libdir=$(dirname "$(find "$work" -path "$work/configured" -prune -o -name liblumeq.a -print |
        head -n 1)")
    # shellcheck disable=SC2086 # words
    "$cc" -Wall -Werror "$here/installed.c" -o "$work/embed" $flags || fail "a program does not build with $flags"
    [ "$(LD_LIBRARY_PATH=$libdir "$work/embed")" = "$(ask "$1" --modversion)" ] ||
        fail "the program prints another version than pkg-config"
}

# /usr, with a folder for each architecture as in Debian.
configure "$@" -DCMAKE_INSTALL_PREFIX=/usr
install_to "$work/root"
pc=$(dirname "$(find "$work/root" -name lumeq.pc)")
arch=$("$cc" -print-multiarch 2>/dev/null || true)
if [ -f /etc/debian_version ] && [ -n "$arch" ]; then
    [ "$pc" = "$work/root/usr/lib/$arch/pkgconfig" ] || fail "lumeq.pc is in $pc"
fi
expect_dir "$pc" prefix "$work/root/usr"
expect_dir "$pc" libdir "${pc%/pkgconfig}"
expect_dir "$pc" includedir "$work/root/usr/include"
embed "$pc"
PKG_CONFIG_SYSROOT_DIR=$work/root embed "$pc"
mv "$work/root" "$work/moved"
embed "${pc/#$work\/root/$work/moved}"
rm -rf "$work/moved"

# The same configuration, installed to another prefix.
install_to "$work/root" --prefix /opt/lumeq
pc=$(dirname "$(find "$work/root" -name lumeq.pc)")
expect_dir "$pc" prefix "$work/root/opt/lumeq"
embed "$pc"
rm -rf "$work/root"

# pkg-config prints absolute folders and the prefix unchanged.
configure "$@" -DCMAKE_INSTALL_PREFIX=/opt/lumeq -DCMAKE_INSTALL_LIBDIR=/opt/lib/64 \
    -DCMAKE_INSTALL_INCLUDEDIR=/opt/headers
install_to "$work/root"
pc=$work/root/opt/lib/64/pkgconfig
expect_dir "$pc" libdir /opt/lib/64
expect_dir "$pc" includedir /opt/headers
expect_dir "$pc" prefix /opt/lumeq
PKG_CONFIG_SYSROOT_DIR=$work/root embed "$pc"
