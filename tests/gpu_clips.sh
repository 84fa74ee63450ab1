#!/usr/bin/env bash
# Encodes clips for tests/gpu.sh (LUMEQ_GPU_CLIPS). lumeq decodes them on a GPU, except clips named *-software.
set -eu

[ $# = 1 ] || { echo 'usage: gpu_clips.sh DIR' >&2; exit 2; }
mkdir -p "$1"
sample=$(cd "$(dirname "$0")/.." && pwd)/samples/lumeq-sample.mkv

# clip NAME FILTER OPTIONS...: encodes two seconds of the sample.
clip() {
    local name=$1 filter=$2
    shift 2
    ffmpeg -v error -y -ss 3 -t 2 -i "$sample" -map 0:v -vf "$filter" "$@" "$dir/$name.mkv"
}

dir=$1
x264=(-c:v libx264 -preset veryfast -crf 24)
x265=(-c:v libx265 -preset veryfast -crf 24 -x265-params log-level=error)
vpx=(-cpu-used 8 -deadline realtime -b:v 1M)
clip h264-refs16 scale=640:360 "${x264[@]}" -refs 16 -bf 8 -x264-params b-pyramid=normal
clip h264-odd scale=638:358,format=yuv420p "${x264[@]}"
clip h264-cropped scale=640:360 "${x264[@]}" -bsf:v h264_metadata=crop_left=6:crop_top=10:crop_right=2:crop_bottom=4
clip hevc-8 scale=640:360 "${x265[@]}"
clip hevc-8-odd scale=630:354 "${x265[@]}"
clip hevc-10 scale=640:360,format=yuv420p10 "${x265[@]}"
clip hevc-12 scale=640:360,format=yuv420p12 "${x265[@]}"
clip hevc-444 scale=640:360,format=yuv444p "${x265[@]}"
clip hevc-444-10 scale=640:360,format=yuv444p10 "${x265[@]}"
clip vp8 scale=640:360 -c:v libvpx "${vpx[@]}"
clip vp9-8 scale=640:360 -c:v libvpx-vp9 "${vpx[@]}"
clip vp9-odd-software scale=635:357 -c:v libvpx-vp9 "${vpx[@]}"
clip vp9-10 scale=640:360,format=yuv420p10 -c:v libvpx-vp9 "${vpx[@]}" -profile:v 2
clip vp9-12 scale=640:360,format=yuv420p12 -c:v libvpx-vp9 "${vpx[@]}" -profile:v 2
clip hevc-422-10-software scale=640:360,format=yuv422p10 "${x265[@]}"
clip h264-10-software scale=640:360,format=yuv420p10 "${x264[@]}"
clip h264-422-software scale=640:360,format=yuv422p "${x264[@]}"
clip mpeg4-software scale=640:360 -c:v mpeg4 -q:v 4
clip mpeg2-software scale=640:360 -c:v mpeg2video -q:v 4
clip mjpeg-software scale=640:360,format=yuvj420p -c:v mjpeg -q:v 5
clip h264-interlaced-software scale=640:360,interlace "${x264[@]}" -flags +ildct+ilme
