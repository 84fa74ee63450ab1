#!/usr/bin/env bash
# Makes README.md's pictures: stills of the bundled clip unchanged, with default settings, and with an option.
# usage: readme-pictures.sh LUMEQ [FOLDER [CLIP]]; needs ffmpeg with zscale.
set -euo pipefail
lumeq=$(realpath -- "${1:?usage: readme-pictures.sh LUMEQ [FOLDER [CLIP]]}")
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
out=$(realpath -- "${2:-$here}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# still NAME VIDEO SECONDS: extracts a frame, 480 pixels wide.
still() {
    ffmpeg -v error -y -ss "$3" -i "$2" -frames:v 1 -vf scale=480:-2:flags=area "$work/$1.png"
}

# equalized NAME INPUT OPTIONS...: encodes without loss, to show lumeq and not an encoder.
equalized() {
    local name=$1 input=$2
    shift 2
    "$lumeq" --no-config -q "$input" -y -o "$work/$name.mkv" --vcodec ffv1 --no-subs "$@"
}

# beside OUTPUT NAME...: joins stills side by side.
beside() {
    local output=$1 name inputs=()
    shift
    for name; do inputs+=(-i "$work/$name.png"); done
    ffmpeg -v error -y "${inputs[@]}" -filter_complex "hstack=inputs=$#" -q:v 3 "$out/$output"
}

# Filters: SDR to PQ and PQ to SDR, for a display with a gamma of 2.2 and a white of 203 nits.
linear=t=linear:npl=203,format=gbrpf32le,zscale
tags=setparams=color_primaries=bt709:colorspace=bt709:color_trc=bt470m
pq=$tags,zscale=$linear=p=bt2020:t=smpte2084:m=bt2020nc:r=tv:npl=203,format=yuv420p10le
sdr=zscale=$linear=p=bt709:t=bt470m:m=gbr:r=pc:npl=203,format=gbrp

# tone_mapped NAME VIDEO: extracts a frame of PQ video and converts it to SDR.
tone_mapped() {
    ffmpeg -v error -y -ss 0.8 -i "$2" -frames:v 1 -vf "$sdr,scale=480:-2:flags=area" "$work/$1.png"
}

clip=${3:-$here/lumeq-sample.mkv}
equalized default "$clip"
equalized fog "$clip" --profile fog
equalized night "$clip" --profile night
equalized full "$clip" --strength 1
equalized twice "$work/default.mkv"

still fog-before "$clip" 2.0
still fog-default "$work/default.mkv" 2.0
still fog-profile "$work/fog.mkv" 2.0
still dark-before "$clip" 5.8
still dark-default "$work/default.mkv" 5.8
still dark-night "$work/night.mkv" 5.8
still flat-before "$clip" 9.32
still flat-default "$work/default.mkv" 9.32
still flat-full "$work/full.mkv" 9.32
still fine-after "$work/twice.mkv" 5.8

ffmpeg -v error -y -ss 5 -t 0.84 -i "$clip" -an -vf "$pq" -c:v ffv1 "$work/pq.mkv"
equalized lifted "$work/pq.mkv" --pix-fmt source
tone_mapped pq-before "$work/pq.mkv"
tone_mapped pq-after "$work/lifted.mkv"

beside hdr.jpg pq-before pq-after
beside fog.jpg fog-before fog-default fog-profile
beside dark.jpg dark-before dark-default dark-night
beside flat.jpg flat-before flat-default flat-full
beside fine.jpg dark-default fine-after
