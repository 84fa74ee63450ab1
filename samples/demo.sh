#!/usr/bin/env bash
# Builds lumeq, equalizes a video and shows what came of it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/build.sh"

usage() {
    cat <<END
usage: demo.sh [--no-install] [VIDEO]

Builds lumeq in build/, equalizes VIDEO (the bundled clip) and leaves in build/demo/ the video, its
statistics and a contact sheet. Installs what is missing on Debian and Ubuntu; --no-install does
not.
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

# The command line's name is relative to where the user is.
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

prepare "$install"
cd -- "$root"
cuda=()
# A build that is there stays what it is.
[ -f build/CMakeCache.txt ] || choose_cuda "cmake -B build -DLUMEQ_CUDA=AUTO builds it"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release "${cuda[@]}"
cmake --build build --parallel "$(cores)" --target lumeq lumeq-contact-sheet

out=$root/build/demo
mkdir -p -- "$out"
rm -f -- "$out"/{equalized.mkv,stats.jsonl,contact-sheet.png}
say
build/lumeq --no-config "$clip" -y -o "$out/equalized.mkv" --stats "$out/stats.jsonl"
say
build/samples/lumeq-contact-sheet "$clip" "$out/equalized.mkv" "$out/stats.jsonl" \
    "$out/contact-sheet.png"
say
say "Mean and contrast (standard deviation) are in luma codes, means over the frames."
say "Excess flicker: how much the mean's steps from frame to frame differ from before, in codes."
say
say "Original:        $clip"
say "Equalized:       $out/equalized.mkv"
say "Contact sheet:   $out/contact-sheet.png"
say "Per frame:       $out/stats.jsonl"
