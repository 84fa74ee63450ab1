#!/usr/bin/env bash
# Builds lumeq, equalizes a video and draws a contact sheet of the result.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/build.sh"

usage() {
    cat <<END
usage: demo.sh [--no-install] [VIDEO]

Builds lumeq in build/, ready for sudo cmake --install build, and equalizes VIDEO (default: the bundled
clip). The equalized video, its statistics and a contact sheet go to build/demo/. On Debian and Ubuntu,
missing packages are installed unless --no-install is given.
END
}

install=1
clip=
while [ $# -gt 0 ]; do
    case $1 in
    --no-install) install=0 ;;
    -h | --help)
        usage
        exit 0
        ;;
    -*) fail "unknown option $1 (--no-install is the only one)" ;;
    *) clip=$1 ;;
    esac
    shift
done

# Make the path absolute, because the script changes the folder.
case $clip in
'' | /*) ;;
*) clip=$PWD/$clip ;;
esac
if [ -z "$clip" ]; then
    for clip in "$root"/samples/lumeq-sample.*; do
        break
    done
fi
[ -f "$clip" ] || fail "there is no video '$clip'"

out=$root/build/demo
mkdir -p -- "$out"
rm -f -- "$out"/{equalized.mkv,stats.jsonl,contact-sheet.png}
prepare "$install"
cd -- "$root"
how_to_use_cuda="to build with CUDA: cmake -B build -DLUMEQ_CUDA=AUTO"
cuda=()
# An existing build keeps its choice of CUDA.
[ -f build/CMakeCache.txt ] || choose_cuda "$how_to_use_cuda"

configure() {
    cmake "$@" -S . -B build -DCMAKE_BUILD_TYPE=Release -DLUMEQ_PROGRAM=ON -DBUILD_TESTING=OFF "${cuda[@]}"
}

# If build/ cannot be configured again, for example after a move, configures it afresh.
build() {
    configure || { choose_cuda "$how_to_use_cuda" && configure --fresh; } || return
    cmake --build build --parallel "$(cores)"
}

say "Building lumeq in build/ (the first time this takes minutes; log: build/demo/build.log)"
build >"$out/build.log" 2>&1 || {
    tail -n 20 "$out/build.log" >&2
    fail "the build failed, see $out/build.log"
}
say "Equalizing $clip"
build/lumeq --no-config "$clip" -y -o "$out/equalized.mkv" --stats "$out/stats.jsonl"
say
build/samples/lumeq-contact-sheet "$clip" "$out/equalized.mkv" "$out/stats.jsonl" \
    "$out/contact-sheet.png"
say
say "Before and after: $out/contact-sheet.png"
say "Equalized video:  $out/equalized.mkv"
say "Now try:          build/lumeq YOUR_VIDEO
                  sudo cmake --install build"
