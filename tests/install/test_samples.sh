#!/usr/bin/env bash
# Builds the samples that embed the library, with the installed static and shared library and pkg-config's
# flags. Runs them on a small clip.
# Arguments: cmake, the source folder, the build folder, a C compiler, nvcc or "".
set -euo pipefail
cmake=$1 source=$2 build=$3 cc=$4 nvcc=${5:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
width=64 height=48 frames=6

fail() {
    echo "$*" >&2
    exit 1
}

"$cmake" --install "$build" --prefix "$work/usr" >/dev/null
pc=$(find "$work/usr" -name lumeq.pc)
export PKG_CONFIG_PATH=${pc%/*}
lib=$(dirname "$(find "$work/usr" -name liblumeq.a)")
read -ra all <<<"$(pkg-config --static --cflags --libs lumeq)"
read -ra shared <<<"$(pkg-config --cflags --libs lumeq)"
static=("${all[@]/#-llumeq/$lib/liblumeq.a}")
if [ ! -e "$lib/liblumeq.so" ]; then # link one from the static library
    needed=()
    for flag in "${all[@]}"; do
        case $flag in -llumeq | -I*) ;; *) needed+=("$flag") ;; esac
    done
    "$cc" -shared -o "$lib/liblumeq.so" -Wl,-soname,liblumeq.so \
        -Wl,--whole-archive "$lib/liblumeq.a" -Wl,--no-whole-archive "${needed[@]}"
fi
export LD_LIBRARY_PATH=$lib

build_sample() { # SAMPLE COMPILER [OPTION...]
    local file=$source/samples/$1 name=${1%.*} compiler=$2
    shift 2
    "$compiler" "$@" "$file" -o "$work/$name-static" "${static[@]}"
    "$compiler" "$@" "$file" -o "$work/$name-shared" "${shared[@]}"
    if command -v ldd >/dev/null; then
        [[ $(ldd "$work/$name-shared") == *liblumeq* ]] || fail "$name-shared contains the static library"
        [[ $(ldd "$work/$name-static") != *liblumeq* ]] || fail "$name-static needs the shared library"
    fi
}
for sample in embed.c two_pass.c; do
    build_sample "$sample" "$cc" -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror
done
if [ -n "$nvcc" ]; then
    shared=("${shared[@]/#-Wl,/-Xlinker=}") static=("${static[@]/#-Wl,/-Xlinker=}") # nvcc does not know -Wl
    build_sample embed_cuda.cu "$nvcc" -Xcompiler=-Wall
fi

# Prints a dull gray YUV 4:2:0 picture with luma codes 65 to 121.
picture() {
    (yes AIQYaiqy | tr -d '\n' || true) | head -c $((width * height))
    head -c $((width * height / 2)) /dev/zero | tr '\0' '\200'
}

# Prints the difference between the highest and the lowest luma code in a file's first frame.
codes() { # FILE OFFSET
    tail -c "+$(($2 + 1))" "$1" | head -c $((width * height)) | od -An -v -tu1 -w1 |
        awk 'NR == 1 { low = high = $1 } { if ($1 < low) low = $1; if ($1 > high) high = $1 }
             END { print high - low }'
}

size_of() {
    wc -c <"$1"
}

for ((i = 0; i < frames; i++)); do picture; done >"$work/clip.yuv"
for kind in static shared; do
    "$work/embed-$kind" "$width" "$height" <"$work/clip.yuv" >"$work/$kind.yuv"
    "$work/embed-$kind" "$width" "$height" gray <"$work/clip.yuv" >"$work/$kind.gray"
    [ "$(size_of "$work/$kind.yuv")" = "$(size_of "$work/clip.yuv")" ] || fail "frames are missing"
    [ "$(codes "$work/clip.yuv" 0)" = 56 ] || fail "the clip has other codes"
    [ "$(codes "$work/$kind.yuv" 0)" -gt 58 ] || fail "embed did not equalize the clip"
    [ "$(size_of "$work/$kind.gray")" = "$(size_of "$work/clip.yuv")" ] || fail "the gray output is too short or too long"
done
cmp "$work/static.yuv" "$work/shared.yuv"
! "$work/embed-static" 0 48 </dev/null 2>/dev/null || fail "embed accepts a width of 0"

header="YUV4MPEG2 W$width H$height F25:1 Ip A1:1 C420jpeg"
{
    echo "$header"
    for ((i = 0; i < frames; i++)); do
        echo FRAME
        picture
    done
} >"$work/clip.y4m"
for kind in static shared; do
    if ! "$work/two_pass-$kind" "$work/clip.y4m" "$work/$kind.y4m" 2>"$work/log"; then
        grep -q "out of memory" "$work/log" || fail "$(cat "$work/log")"
        echo "skipped: this library has no lookahead history"
        exit 77
    fi
    [ "$(size_of "$work/$kind.y4m")" = "$(size_of "$work/clip.y4m")" ] || fail "frames are missing"
    [ "$(head -n 1 "$work/$kind.y4m")" = "$header" ] || fail "the header differs from the input's"
    begin=$((${#header} + 1 + 6))
    [ "$(codes "$work/$kind.y4m" "$begin")" -gt 58 ] || fail "two_pass did not equalize the clip"
done
cmp "$work/static.y4m" "$work/shared.y4m"
! "$work/two_pass-static" "$work/clip.yuv" "$work/none.y4m" 2>/dev/null || fail "two_pass accepts an input that is not Y4M"
[ ! -e "$work/none.y4m" ] || fail "two_pass writes a file for an invalid input"
