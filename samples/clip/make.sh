#!/bin/sh
# Draws the sample clip and packs it into samples/lumeq-sample.mkv. Needs cc and ffmpeg (libx264).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:-$root/build/clip}
clip=$root/samples/lumeq-sample.mkv
most_bytes=4000000

mkdir -p "$work"
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O3 -Wall -Wextra \
    -o "$work/draw" "$here"/*.c -lm -lpthread
"$work/draw" "$work/clip.y4m" "$work/clip.wav"

cat > "$work/clip.srt" <<END
1
00:00:00,200 --> 00:00:03,840
Fog over the lake

2
00:00:04,200 --> 00:00:07,000
A dark room, a lamp and a candle

3
00:00:08,200 --> 00:00:10,800
The sea at dusk, letterboxed
END

cat > "$work/clip.ffmeta" <<END
;FFMETADATA1
title=lumeq sample
comment=Drawn by samples/clip/draw.c
[CHAPTER]
TIMEBASE=1/25
START=0
END=100
title=Fog
[CHAPTER]
TIMEBASE=1/25
START=100
END=190
title=Dark room
[CHAPTER]
TIMEBASE=1/25
START=190
END=275
title=Dusk at sea
END

# The AAC encoder starts 1024 samples early: without those the first packet is at 0 s, like the
# picture.
# The sea takes many bits and hides their lack best, so fog and room get more of them.
x264=aq-mode=3:aq-strength=1.0:deblock=-2,-2:psy-rd=1.0,0.2
x264=$x264:deadzone-inter=8:deadzone-intra=6:qcomp=0.7:keyint=50:zones=0,187,b=1.15/193,274,b=0.92
ffmpeg -hide_banner -loglevel error -y \
    -i "$work/clip.y4m" -i "$work/clip.wav" -i "$work/clip.srt" -i "$work/clip.ffmeta" \
    -map 0:v -map 1:a -map 2:s -map_metadata 3 -map_chapters 3 \
    -c:v libx264 -profile:v high -preset slow -crf "${CRF:-22.3}" -threads 2 \
    -x264-params "$x264" \
    -pix_fmt yuv420p -color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709 \
    -af atrim=start_sample=1024 -c:a aac -b:a 96k -c:s subrip \
    -metadata:s:v title="Picture" -metadata:s:a language=eng -metadata:s:s language=eng \
    -disposition:s:0 default -fflags +bitexact -flags:v +bitexact -flags:a +bitexact "$clip"

bytes=$(wc -c < "$clip")
if [ "$bytes" -gt "$most_bytes" ]; then
    echo "make.sh: $clip has $bytes bytes, more than $most_bytes; raise CRF" >&2
    exit 1
fi
echo "$clip: $bytes bytes"
