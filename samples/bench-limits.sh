#!/usr/bin/env bash
# Measures lumeq's time on dark and dull video and with a lookahead, and its memory. Needs lumeq and lumeq-bench on the PATH, and
# ffmpeg for comparison. Without ffmpeg, lumeq --mode off measures decoding alone, and memory is not measured. Compared
# programs run alternately; medians are printed.
set -eu

usage='usage: bench-limits.sh DIR clips                            make the clips (65 MB) with ffmpeg
       bench-limits.sh DIR [filter|null|memory|nvdec|gpu]...  measure with the clips in DIR; default: everything
Environment: ROUNDS, number of runs (5); CORES, cores of CPU runs (0,1)'
[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
mkdir -p "$1"
clips=$(cd "$1" && pwd)
shift
rounds=${ROUNDS:-5} cores=${CORES:-0,1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# clip NAME SECONDS OPTIONS...: encodes the repeated bundled clip.
clip() {
    local name=$1 seconds=$2
    shift 2
    ffmpeg -v error -nostdin -y -stream_loop -1 -i "$(dirname "$0")/lumeq-sample.mkv" -map 0:v:0 -t "$seconds" -c:v libx264 \
        "$@" "$clips/$name.mkv"
}

make_clips() {
    local hd=scale=1920:1080 noise=setpts=N/25/TB,noise=alls=4:allf=t
    local light="lutyuv=y='clip((val-141)*4.2+126,16,235)'"
    clip exposed 10 -crf 20 -vf "$hd,trim=0:3.6,loop=-1:90,$light,$noise"
    clip dull 10 -crf 20 -vf "$hd,trim=0:3.6,loop=-1:90,$noise"
    clip dark 10 -crf 20 -vf "$hd,trim=4.1:7.6,loop=-1:87,$noise"
    clip sample 20 -crf 23 -vf "$hd"
    clip 4k 60 -crf 28 -preset veryfast -vf scale=3840:2160
}

# timed FILE COMMAND...: appends the seconds of a command to FILE, and its processor seconds to FILE-cpu.
timed() {
    local to=$1 TIMEFORMAT='%R %U %S'
    shift
    { time "$@" </dev/null >"$work/log" 2>&1; } 2>"$work/times" || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 1; }
    awk '{ print $1 }' "$work/times" >>"$work/$to"
    awk '{ print $2 + $3 }' "$work/times" >>"$work/$to-cpu"
}

median() {
    sort -g "$work/$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# share FILE1 FILE2: divides the median of FILE1 by that of FILE2.
share() {
    awk "BEGIN { printf \"%.2f\", $(median "$1") / $(median "$2") }"
}

# bench FILE COLUMN OPTIONS...: appends a time of lumeq-bench equalize to FILE, in ms.
bench() {
    local to=$1 column=$2
    shift 2
    lumeq-bench equalize --csv --seconds 0.5 "$@" >"$work/csv"
    awk -F, -v name="$column" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR == 2 { print $at / 1000 }' "$work/csv" >>"$work/$to"
}

# Runs all further commands on these cores.
on_cores() {
    taskset -cp "$1" $$ >"$work/log"
}

filter() {
    local depth mask i
    on_cores "${cores%%,*}"
    printf '\n| dark, noisy 1080p with colour, one thread, ms a frame | plain C | SSE4.2 | AVX2 | AVX-512 |\n|---|---|---|---|---|\n'
    for depth in 8 10; do
        for ((i = 0; i < rounds; i++)); do
            for mask in 0 4 5 7; do
                LUMEQ_CPU_MASK=$mask bench "ms$depth-$mask" chroma_us --backend cpu --threads 1 --size 1920x1080 \
                    --content dark --depth "$depth"
            done
        done
        printf '| %d bits |' "$depth"
        for mask in 0 4 5 7; do
            printf ' %.1f (%.1fx) |' "$(median "ms$depth-$mask")" "$(share "ms$depth-0" "ms$depth-$mask")"
        done
        echo
    done
}

null() {
    local decode clip i
    decode=lumeq
    ! command -v ffmpeg >"$work/log" || decode=ffmpeg
    on_cores "$cores"
    printf '\n| --null on cores %s | decoding alone (%s), s | lumeq, s | ratio | ratio of processor times |\n|---|---|---|---|---|\n' "$cores" "$decode"
    for clip in exposed dull dark sample; do
        for ((i = 0; i < rounds; i++)); do
            if [ "$decode" = ffmpeg ]; then
                timed "decode-$clip" ffmpeg -v error -nostdin -i "$clips/$clip.mkv" -map 0:v:0 -f null -
            else
                timed "decode-$clip" lumeq --no-config -q "$clips/$clip.mkv" --mode off --null --backend cpu
            fi
            timed "null-$clip" lumeq --no-config -q "$clips/$clip.mkv" --null --backend cpu
        done
        printf '| %s | %.2f | %.2f | %s | %s |\n' "$clip" "$(median "decode-$clip")" "$(median "null-$clip")" \
            "$(share "decode-$clip" "null-$clip")" "$(share "decode-$clip-cpu" "null-$clip-cpu")"
    done
}

# peak FILE COMMAND...: appends the peak memory of a command to FILE, in MiB.
peak() {
    local to=$1 pid most=0 now
    shift
    "$@" </dev/null >"$work/log" 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>"$work/kill"; do
        now=$(awk '/VmHWM/ { print $2 / 1024 }' "/proc/$pid/status" 2>"$work/kill") || now=
        most=${now:-$most}
        sleep 0.05
    done
    wait "$pid" || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 1; }
    echo "$most" >>"$work/$to"
}

memory() {
    command -v ffmpeg >"$work/log" || { printf '\nmemory: skipped without ffmpeg\n'; return; }
    local i
    on_cores "$cores"
    for ((i = 0; i < (rounds + 1) / 2; i++)); do
        peak memory-ffmpeg ffmpeg -v error -nostdin -y -t 15 -i "$clips/4k.mkv" -map 0:v:0 -c:v libx264 -preset ultrafast \
            "$work/out.mkv"
        peak memory-lumeq lumeq --no-config -q -y "$clips/4k.mkv" --to 15 --lookahead 10 --backend cpu --vcodec libx264 \
            --preset ultrafast -o "$work/out.mkv"
    done
    printf '\n| 4K by x264 ultrafast, lookahead of 10 s | ffmpeg | lumeq | ratio |\n|---|---|---|---|\n| peak MiB | %.0f | %.0f | %s |\n' \
        "$(median memory-ffmpeg)" "$(median memory-lumeq)" "$(share memory-lumeq memory-ffmpeg)"
}

nvdec() {
    local i
    on_cores "$all"
    for ((i = 0; i < rounds; i++)); do
        timed nvdec-one lumeq --no-config -q "$clips/4k.mkv" --null --backend cuda --hwdec nvdec --lookahead off
        timed nvdec-ahead lumeq --no-config -q "$clips/4k.mkv" --null --backend cuda --hwdec nvdec --lookahead 10
    done
    printf '\n| 4K by NVDEC, --null | one pass, s | lookahead, s | ratio |\n|---|---|---|---|\n| 60 s | %.2f | %.2f | %s |\n' \
        "$(median nvdec-one)" "$(median nvdec-ahead)" "$(share nvdec-one nvdec-ahead)"
}

gpu() {
    local content column i
    on_cores "$all"
    printf '\n| 4K on the GPU, in a row, us | luma | with colour |\n|---|---|---|\n'
    for content in exposed dark; do
        for ((i = 0; i < rounds; i++)); do
            for column in resident_us resident_chroma_us; do
                bench "$content-$column" "$column" --backend cuda --size 3840x2160 --content "$content"
            done
        done
        printf '| %s |' "$content"
        for column in resident_us resident_chroma_us; do
            awk "BEGIN { printf \" %.1f |\", 1000 * $(median "$content-$column") }"
        done
        echo
    done
}

[ $# -gt 0 ] || set -- filter null memory nvdec gpu
all=$(taskset -cp $$ | sed 's/.*: //')
for part in "$@"; do
    case $part in
    clips) make_clips ;;
    filter | null | memory | nvdec | gpu) "$part" ;;
    *) echo "$usage" >&2; exit 2 ;;
    esac
done
