#!/usr/bin/env bash
# Runs all tests that need a GPU, with built programs only (no CMake, no ffmpeg).
set -u

usage='usage: gpu.sh BUILD_DIR [tests|bench|program|decoding|sanitizers|losses]...
BUILD_DIR has lumeq and the test programs. If no part is given, runs all parts, in about 15 minutes.'
[ $# -ge 1 ] && [ -d "$1" ] || { echo "$usage" >&2; exit 2; }
build=$(cd "$1" && pwd)
shift
parts=" ${*:-tests bench program decoding sanitizers losses} "
for part in $parts; do
    case $part in
    tests | bench | program | decoding | sanitizers | losses) ;;
    *) echo "gpu.sh: unknown part '$part'" >&2; echo "$usage" >&2; exit 2 ;;
    esac
done
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
under_tools=() under_at_once=4

wanted() {
    [ "${parts#* "$1" }" != "$parts" ]
}

find_program() {
    find "$build" -name "$1" -type f -perm -u+x | head -n 1
}

pass() {
    echo "ok    $1, $((ended - began)) s"
    passed=$((passed + 1))
}

fail() {
    echo "FAIL  $1"
    sed 's/^/      /' "$work/log" | tail -n 40
    failed=$((failed + 1))
}

skip() {
    echo "skip  $1"
    skipped=$((skipped + 1))
}

# Ends programs that hang.
limited() {
    timeout -k 10 300 "$@"
}

# check NAME COMMAND...: exit code 0 passes, 77 skips. Shell functions must limit the time of their programs themselves.
check() {
    local name=$1 code=0 limit=limited
    shift
    began=$SECONDS
    [ "$(type -t "$1")" != function ] || limit=
    $limit "$@" >"$work/log" 2>&1 || code=$?
    ended=$SECONDS
    report "$name" "$code"
}

# report NAME CODE: reports the result of the program that wrote $work/log.
report() {
    case $2 in
    0) pass "$1" ;;
    77) skip "$1: $(grep -m 1 -i skipped "$work/log")" ;;
    *) fail "$1 (exit code $2)" ;;
    esac
}

check_program() {
    local program
    program=$(find_program "$1")
    if [ -n "$program" ]; then
        check "$1" "$program"
    else
        echo "$build has no test program $1" >"$work/log"
        fail "$1"
    fi
}

# noise WIDTH HEIGHT FRAMES CHROMA BYTES_OF_A_FRAME: prints a y4m video of noise.
noise() {
    printf 'YUV4MPEG2 W%s H%s F25:1 Ip A1:1 C%s\n' "$1" "$2" "$4"
    local i
    for ((i = 0; i < $3; i++)); do
        printf 'FRAME\n'
        head -c "$5" /dev/urandom
    done
}

# dark_noise WIDTH HEIGHT FRAMES: prints a dark, noisy 8-bit y4m video.
dark_noise() {
    printf 'YUV4MPEG2 W%s H%s F25:1 Ip A1:1 C420jpeg\n' "$1" "$2"
    local i code
    for ((i = 0; i < $3; i++)); do
        printf 'FRAME\n'
        for code in 16 18 20 24 28 32 38 44; do
            bytes_from "$code" $(($1 * $2 / 8))
        done
        bytes_from 126 $(($1 * $2 / 2))
    done
}

# bytes_from CODE COUNT: prints random bytes from CODE to CODE + 3.
bytes_from() {
    local set='' code
    for code in $1 $(($1 + 1)) $(($1 + 2)) $(($1 + 3)); do
        set+=$(printf '[\\%03o*64]' "$code")
    done
    head -c "$2" /dev/urandom | LC_ALL=C tr '\000-\377' "$set"
}

# Checks that both backends give the same pictures and statistics, except times.
same_bits() {
    local input=$1 backend
    shift
    for backend in cpu cuda; do
        limited "$lumeq" "$input" -o - "$@" --backend "$backend" \
            --stats "$work/$backend.jsonl" -y -q >"$work/$backend.y4m" || return
        sed -E 's/"(decode|upload|equalize|download|sink)_us":[0-9.]+,?//g' \
            "$work/$backend.jsonl" >"$work/$backend.stats"
    done
    [ "$(grep -c . "$work/cpu.stats")" -gt 0 ] && cmp "$work/cpu.y4m" "$work/cuda.y4m" &&
        cmp "$work/cpu.stats" "$work/cuda.stats"
}

lists_gpus() {
    [ -n "$("$lumeq" --list-gpus)" ]
}

doctor_finds_gpu() {
    "$lumeq" --doctor --json | grep -q '"gpu":{"verdict":"ok"'
}

whole_program() {
    noise 1 1 5 444 3 >"$work/dot.y4m"
    noise 3840 2160 12 mono $((3840 * 2160)) >"$work/uhd.y4m"
    check "the clip, defaults" same_bits "$clip"
    check "the clip, --reference" same_bits "$clip" --reference
    check "the clip, --strength 1 --clip 0 --smooth 2" \
        same_bits "$clip" --strength 1 --clip 0 --smooth 2
    check "the clip, --mode off" same_bits "$clip" --mode off
    for mode in clahe stretch haze; do
        check "the clip, --mode $mode" same_bits "$clip" --mode "$mode"
    done
    check "the clip, --mode clahe --tiles 5x3 --dither off --chroma keep" \
        same_bits "$clip" --mode clahe --tiles 5x3 --dither off --chroma keep
    check "the clip, --mode clahe --reference" same_bits "$clip" --mode clahe --reference
    check "the clip, --chroma keep --bars ignore" same_bits "$clip" --chroma keep --bars ignore
    check "the clip, full range, 1 thread" same_bits "$clip" --range full --threads 1
    check "part of the clip" same_bits "$clip" --ss 3.5 --to 8
    check "noise, odd size" same_bits "$work/odd.y4m"
    check "noise, 1x1" same_bits "$work/dot.y4m"
    check "noise, 4K gray" same_bits "$work/uhd.y4m"
    noise 642 361 6 422p12 $((2 * (642 * 361 * 2))) >"$work/deep422.y4m"
    for mode in global clahe haze; do
        check "noise, 10 bits, --mode $mode" same_bits "$work/deep.y4m" --mode "$mode"
        check "noise, 12 bits, --mode $mode" same_bits "$work/deep422.y4m" --mode "$mode"
    done
    dark_noise 640 368 12 >"$work/dark.y4m"
    check "a dark, noisy clip is lifted" is_lifted "$work/dark.y4m"
    check "dark and noisy, defaults" same_bits "$work/dark.y4m"
    check "dark and noisy, --denoise off" same_bits "$work/dark.y4m" --denoise off
    check "dark and noisy, --denoise 0.5 --chroma keep" \
        same_bits "$work/dark.y4m" --denoise 0.5 --chroma keep
    check "dark and noisy, --meter centre --brightness 0.2 --gamma 1.3" \
        same_bits "$work/dark.y4m" --meter centre --brightness 0.2 --gamma 1.3
    for mode in clahe stretch haze; do
        check "dark and noisy, --mode $mode" same_bits "$work/dark.y4m" --mode "$mode"
    done
    for limit in darken lighten; do
        check "dark and noisy, --limit $limit" same_bits "$work/dark.y4m" --limit "$limit"
        check "dark and noisy, --mode clahe --limit $limit" same_bits "$work/dark.y4m" --mode clahe --limit "$limit"
    done
    check "dark and noisy, --profile night" same_bits "$work/dark.y4m" --profile night
    check "--list-gpus" lists_gpus
    check "--doctor: this build has code for the GPU" doctor_finds_gpu
    check "a missing GPU is refused" no_such_gpu "$clip"
    check "the player: the picture stays on the GPU" plays_on_gpu "$clip"
    LUMEQ_CLIP=$clip LUMEQ_TEST_BACKEND=cuda check_program test_session
}

decoding() {
    local program
    check "decoded on the GPU, one pass" same_decoding "$1" --two-pass off --to 4
    LUMEQ_CLIP=$1 check_program test_cuda_opens
    check "a long pause with frames on the GPU" long_pause "$1"
    check "a window and a clip with 16 references" many_references
    every_clip
    check "three live streams" live_streams "$1"
    check "decoded on the GPU, --report" same_decoding "$1" --report "$work/report.json" --to 2
    program=$(find_program lumeq)
    ! command -v compute-sanitizer >/dev/null || under memcheck "$program" "$1" --sandbox off \
        --hwdec nvdec --backend cuda --to 0.4 --vcodec ffv1 -o "$work/checked.mkv" -y -q
    end_under
    check "decoded on the GPU, two passes" same_decoding "$1" --two-pass on --to 4
    check "decoded on the GPU, --mode off" same_decoding "$1" --mode off --to 2
    check "decoded on the GPU, --mode clahe --chroma keep" \
        same_decoding "$1" --mode clahe --chroma keep --to 2
    check "decoded on the GPU, --overlay --pix-fmt auto10" \
        same_decoding "$1" --overlay --pix-fmt auto10 --to 2
    check "decoded on the GPU, --compare split" same_decoding "$1" --compare split --to 2
}

# Runs last, because windows may fail to open on a GPU after these faults.
losses() {
    check "GPU lost with frames on it, one pass" same_after_loss "$clip" --two-pass off
    check "GPU lost with frames on it, two passes" same_after_loss "$clip" --two-pass on
    check "GPU lost with frames on it, into a pipe" counted_after_loss "$clip"
    check_program test_cuda_loss
}

# Runs lumeq with a GPU that is lost after 2.5 s. A single encoder thread makes the run last longer.
lose_gpu() {
    local fault
    fault=$(find "$build" -name 'libgpu_fault.so' | head -n 1)
    [ -n "$fault" ] || { echo "$build has no libgpu_fault.so"; return 1; }
    limited env LD_PRELOAD="$fault" GPU_FAULT_MS=2500 "$lumeq" --backend cuda --hwdec nvdec --threads 1 --vcodec ffv1 -y -v "$@"
}

# After a loss, lumeq starts a file again on the CPU.
same_after_loss() {
    local input=$1 how
    shift
    lose_gpu "$input" -o "$work/cuda.mkv" "$@" --stats "$work/cuda.jsonl" 2>"$work/cuda.err" || return
    limited "$lumeq" "$input" --backend cpu --vcodec ffv1 -o "$work/cpu.mkv" "$@" --stats "$work/cpu.jsonl" -y -q || return
    for how in cpu cuda; do
        limited "$lumeq" "$work/$how.mkv" --backend cpu --mode off -q -y -o - >"$work/$how.y4m" || return
        sed -E 's/"(decode|upload|equalize|download|sink)_us":[0-9.]+,?//g' \
            "$work/$how.jsonl" >"$work/$how.stats"
    done
    cat "$work/cuda.err"
    grep -q 'the CPU goes on without the GPU' "$work/cuda.err" && grep -q 'starting again' "$work/cuda.err" &&
        [ -s "$work/cpu.stats" ] && cmp "$work/cpu.y4m" "$work/cuda.y4m" && cmp "$work/cpu.stats" "$work/cuda.stats"
}

# After a loss, output into a pipe continues on the CPU, and lost frames are counted.
counted_after_loss() {
    local code=0
    lose_gpu "$1" -o - --format matroska >"$work/pipe.mkv" 2>"$work/pipe.err" || code=$?
    cat "$work/pipe.err"
    [ "$code" = 5 ] && [ -s "$work/pipe.mkv" ] && grep -Eq '[0-9]+ frames? w(as|ere) lost because the GPU failed' "$work/pipe.err"
}

# After a long pause, a window still decodes on the GPU.
long_pause() {
    local program
    program=$(find_program test_session)
    [ -n "$program" ] || { echo "$build has no test_session"; return 1; }
    limited env LUMEQ_CLIP="$1" LUMEQ_TEST_BACKEND=cuda LUMEQ_TEST_PAUSE_S="${LUMEQ_TEST_PAUSE_S:-5}" \
        "$program" pauses_for_long
}

# Frames for which the GPU has no room go to the host, so decoder surfaces do not run out.
many_references() {
    local clip=${LUMEQ_GPU_CLIPS:-}/h264-refs16.mkv
    [ -f "$clip" ] || { echo "skipped: no h264-refs16.mkv in LUMEQ_GPU_CLIPS"; return 77; }
    limited "$lumeq" "$clip" --backend cuda --hwdec nvdec -v >"$work/refs.log" 2>&1 || return
    cat "$work/refs.log"
    ! grep -q 'No decoder surfaces left' "$work/refs.log"
}

# Decodes each clip of tests/gpu_clips.sh (LUMEQ_GPU_CLIPS).
every_clip() {
    local clip
    for clip in "${LUMEQ_GPU_CLIPS:-}"/*.mkv; do
        [ -f "$clip" ] || { skip "clips of all codecs: LUMEQ_GPU_CLIPS has no clips"; return; }
        check "decoded on the GPU, $(basename "$clip" .mkv)" same_clip "$clip"
    done
}

same_clip() {
    local how
    for how in no nvdec; do
        limited "$lumeq" "$1" --backend cuda --hwdec "$how" -o - --stats "$work/$how.jsonl" -y -v \
            2>"$work/$how.err" >"$work/$how.y4m" || { cat "$work/$how.err"; return 1; }
        sed -E 's/"(decode|upload|equalize|download|sink)_us":[0-9.]+,?//g' \
            "$work/$how.jsonl" >"$work/$how.stats"
    done
    cat "$work/nvdec.err"
    case $1 in
    *-software.mkv) ;;
    *) grep -q 'decoded on the GPU' "$work/nvdec.err" || return ;;
    esac
    [ -s "$work/no.stats" ] && cmp "$work/no.y4m" "$work/nvdec.y4m" && cmp "$work/no.stats" "$work/nvdec.stats"
}

live_streams() {
    [ -n "$bench" ] || { echo "skipped: $build has no lumeq-bench"; return 77; }
    limited "$bench" streams "$1" --hwdec nvdec --live 3 --seconds 2 --csv >"$work/streams.csv" \
        2>"$work/streams.err" || { cat "$work/streams.err"; return 1; }
    cat "$work/streams.csv" "$work/streams.err"
    grep -q 'limits: .* MiB of GPU' "$work/streams.err" && [ "$(grep -c ',GPU,' "$work/streams.csv")" = 3 ] &&
        awk -F, '$1 == "all" { seen = 1; late = $6 } END { exit !seen || late > 0 }' "$work/streams.csv"
}

# Decoding on the GPU gives the same pictures as decoding in software.
same_decoding() {
    local input=$1 how
    shift
    for how in no nvdec; do
        limited "$lumeq" "$input" --backend cuda --hwdec "$how" --vcodec ffv1 -o "$work/$how.mkv" \
            "$@" --stats "$work/$how.jsonl" -y -v 2>"$work/$how.err" || return
        limited "$lumeq" "$work/$how.mkv" --backend cpu --mode off -q -y -o - >"$work/$how.y4m" || return
        sed -E 's/"(decode|upload|equalize|download|sink)_us":[0-9.]+,?//g' \
            "$work/$how.jsonl" >"$work/$how.stats"
    done
    grep -q 'decoded on the GPU' "$work/nvdec.err" && [ -s "$work/no.stats" ] &&
        cmp "$work/no.y4m" "$work/nvdec.y4m" && cmp "$work/no.stats" "$work/nvdec.stats"
}

is_lifted() {
    limited "$lumeq" "$1" --null --backend cuda -v 2>&1 | tee /dev/stderr |
        grep -q 'dark: lifted'
}

no_such_gpu() {
    local code=0
    limited "$lumeq" "$1" --null --backend cuda --device 99 || code=$?
    [ "$code" = 1 ]
}

plays_on_gpu() {
    limited "$lumeq" "$1" --to 1 --backend cuda -v 2>&1 | tee /dev/stderr |
        grep -q 'luma stays on the GPU'
}

# under TOOL PROGRAM ARGUMENTS...: starts a program under a tool of compute-sanitizer, several at once. The exit code is
# 99 if the tool finds a fault. Tools cannot look into the sandbox, so lumeq must run without sandbox.
under() {
    local tool=$1 place
    shift
    place=$work/under${#under_tools[@]}
    under_tools+=("compute-sanitizer $tool: $(basename "$1")")
    [ "$(jobs -rp | wc -l)" -lt "$under_at_once" ] || wait -n
    {
        began=$SECONDS code=0
        limited compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 5 "$@" >"$place.log" 2>&1 || code=$?
        echo "$began $SECONDS $code" >"$place.end"
    } &
}

# Waits for the programs of under(), and reports the results.
end_under() {
    local i code
    wait
    for i in "${!under_tools[@]}"; do
        read -r began ended code <"$work/under$i.end"
        mv "$work/under$i.log" "$work/log"
        report "${under_tools[i]}" "$code"
    done
    under_tools=()
}

test_programs() {
    local name
    for name in test_cuda_backend test_cuda_steps test_cuda_steps_fake test_cuda_step_errors test_cuda_errors test_cuda_gl \
        test_equalizer test_haze test_reference test_curve test_depth test_dither test_lift test_lift_filter test_light \
        test_look test_meter test_noise test_clahe test_chroma test_bars test_steps test_gpu_loss \
        test_cuda_window; do
        check_program "$name"
    done
}

bench_tests() {
    if [ -n "$bench" ] && command -v python3 >/dev/null; then
        LUMEQ_BENCH=$bench check "lumeq-bench equalize" \
            python3 -B "$root/tests/bench/test_bench_equalize.py" Gpu
        LUMEQ_BENCH=$bench check "lumeq-bench histogram" \
            python3 -B "$root/tests/bench/test_bench_histogram.py" Gpu
    else
        skip "lumeq-bench: the program or python3 is missing"
    fi
}

sanitizers() {
    local tool program depth cases
    command -v compute-sanitizer >/dev/null || { skip "compute-sanitizer: not installed"; return; }
    for tool in memcheck racecheck initcheck synccheck; do
        # Fewer cases, because tools slow programs down a hundredfold.
        program=$(find_program test_cuda_backend)
        cases=5
        case $tool in racecheck | initcheck) cases=3 ;; esac # the other tools are ten times as fast
        [ -z "$program" ] || LUMEQ_TEST_CASES=$cases under "$tool" "$program" same_bits
        program=$(find_program test_noise)
        [ -z "$program" ] || under "$tool" "$program" nothing_to_tell
        program=$(find_program test_haze)
        [ -z "$program" ] || under "$tool" "$program" orange_fog
        program=$(find_program test_cuda_steps)
        cases=80
        [ "$tool" != racecheck ] || cases=20 # racecheck takes seconds per lifted frame
        [ -z "$program" ] || LUMEQ_TEST_CASES=$cases under "$tool" "$program" frames live
        for depth in 8 12; do
            [ -z "$bench" ] || under "$tool" "$bench" histogram --check --size 333x77 --depth $depth
        done
        under "$tool" "$lumeq" "$work/odd.y4m" --sandbox off --backend cuda -q -o "$work/$tool-odd.nut" -y \
            --vcodec rawvideo
        under "$tool" "$lumeq" "$work/deep.y4m" --sandbox off --backend cuda -q -o "$work/$tool-deep.nut" -y \
            --vcodec rawvideo --mode clahe
    done
    [ -z "$bench" ] || under memcheck "$bench" equalize --size 3840x2160 --content noise \
        --backend cuda --modes reference,clahe-reference --seconds 0.01
    program=$(find_program test_cuda_gl)
    [ -z "$program" ] || under memcheck "$program" every_layout both_sides
    end_under
}

# Runs a part, or skips it without a GPU.
on_a_gpu() {
    if [ -n "$("$lumeq" --list-gpus 2>/dev/null)" ]; then
        "$@"
    else
        skip "$1: $("$lumeq" --list-gpus 2>&1 | head -n 1)"
    fi
}

lumeq=$(find_program lumeq)
[ -n "$lumeq" ] || { echo "gpu.sh: $build has no program lumeq" >&2; exit 2; }
bench=$(find_program lumeq-bench)
clip=$(find "$root/samples" -maxdepth 1 -name 'lumeq-sample.*' | head -n 1)
export SDL_VIDEODRIVER=${SDL_VIDEODRIVER:-offscreen} SDL_AUDIODRIVER=${SDL_AUDIODRIVER:-dummy}
noise 641 361 12 420jpeg $((641 * 361 + 2 * 321 * 181)) >"$work/odd.y4m"
noise 641 361 6 420p10 $((2 * (641 * 361 + 2 * 321 * 181))) >"$work/deep.y4m"
! wanted tests || test_programs
! wanted bench || bench_tests
! wanted program || on_a_gpu whole_program
! wanted decoding || on_a_gpu decoding "$clip"
! wanted sanitizers || on_a_gpu sanitizers
! wanted losses || on_a_gpu losses
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
