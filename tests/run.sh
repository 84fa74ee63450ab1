#!/usr/bin/env bash
# Builds lumeq and runs its tests; --all repeats them with sanitizers. The last line has the totals.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../samples/build.sh"

usage() {
    cat <<END
usage: run.sh [--all | --hosts] [--no-install]

Makes an optimized build in build/ci/ and runs all tests. CUDA is built only if there is a GPU.
--all         also runs the tests under AddressSanitizer with UndefinedBehaviorSanitizer, and those with
              threads under ThreadSanitizer; checks changed sources with clang-tidy and cppcheck; builds
              CUDA if nvcc is installed, for the oldest supported GPUs and for Hopper
--hosts       runs the tests on other systems (tests/hosts/), and builds device code for every GPU; for a
              release, and as root
--no-install  lists missing packages; by default they are installed on Debian and Ubuntu
END
}

install=1
builds=(release)
while [ $# -gt 0 ]; do
    case $1 in
    --all) builds=(release asan tsan) ;;
    --hosts) builds=(hosts) ;;
    --no-install) install=0 ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) fail "unknown argument $1 (allowed: --all, --hosts, --no-install)" ;;
    esac
    shift
done

passed=0 failed=0 skipped=0 alone=() plugins=()
# The tests that each build runs; --all adds the trials (tests/hard).
declare -A labels=([release]=short [asan]=sanitize [tsan]=threads)

# Paths are quoted for the sanitizers' own parser.
set_sanitizer_options() {
    export ASAN_OPTIONS=halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export LSAN_OPTIONS="print_suppressions=0:suppressions='$root/tests/lsan.supp'"
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    [ ! -f tests/tsan.supp ] || TSAN_OPTIONS+=":suppressions='$root/tests/tsan.supp'"
}

# GCC's sanitizers before version 14 do not start with the address randomization of newer kernels.
choose_launcher() {
    launcher=()
    if [ "$1" != release ] && setarch "$(uname -m)" -R true 2>/dev/null; then
        launcher=(setarch "$(uname -m)" -R)
    fi
}

# --all builds for the oldest supported GPUs, which have the fewest features, and for Hopper.
choose_code() {
    if [ "${#builds[@]}" -gt 1 ]; then
        cuda=(-DLUMEQ_CUDA=AUTO "-DCMAKE_CUDA_ARCHITECTURES=75-real;90")
    else
        choose_cuda "--all builds it"
    fi
}

# Extracts VapourSynth's headers and core from its wheel, without installing it.
fetch_vapoursynth() {
    local folder=$root/build/ci/vapoursynth
    mkdir -p "$folder"
    if [ ! -d "$folder/vapoursynth/include" ]; then
        { python3 -m venv "$folder" && "$folder/bin/pip" download -q --no-deps --only-binary=:all: --python-version 3.12 \
            --platform "manylinux_2_28_$(uname -m)" -d "$folder" vapoursynth &&
            python3 -m zipfile -e "$folder"/vapoursynth-*.whl "$folder"; } >"$root/build/vapoursynth.log" 2>&1 || {
            say "The filter for VapourSynth is left out, as pip cannot fetch VapourSynth (build/vapoursynth.log)"
            return 0
        }
    fi
    plugins+=("-DLUMEQ_VAPOURSYNTH_INCLUDE=$folder/vapoursynth/include")
}

# Uses -O2, as distributions do. GCC's sanitizers cause false warnings, so only the release build has -Werror.
build() {
    local werror=OFF shared=OFF cuda=() flags=()
    if [ "$1" = release ]; then
        werror=ON shared=ON flags=("-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG")
        choose_code
    fi
    cmake --preset "$1" -B "build/ci/$1" "${cuda[@]}" "${flags[@]}" "${plugins[@]}" -DLUMEQ_WERROR="$werror" \
        -DBUILD_SHARED_LIBS="$shared" -DBUILD_TESTING=ON &&
        cmake --build "build/ci/$1" --parallel "$(cores)"
}

# Counts ctest's lines "N/M Test #I: NAME ... RESULT"; a result other than passed or skipped is a failure.
count() {
    awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
             if (/ Passed +[0-9.]+ sec/) passed++
             else if (/\*\*\*Skipped|\(Disabled\)/) skipped++
             else failed++
         }
         END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

say_what_is_left_out() {
    local names
    names=$(ctest --test-dir "build/ci/$1" -N -LE "^(${labels[$1]}|hard)\$" | sed -n 's/^ *Test *#[0-9]*: /, /p')
    names=$(tr -d '\n' <<<"$names")
    [ -z "$names" ] || say "$1: not run, as this build would find nothing new: ${names#, }"
}

# Prints the number of ctest's slots. A computing test takes five, a waiting test one (tests/CMakeLists.txt). There are
# slots for a computing test on each of up to six cores, and for four waiting tests. Under ThreadSanitizer, waiting tests
# compute as well, so they get only one slot.
places() {
    local cores places
    cores=$(cores)
    [ "$cores" -le 6 ] || cores=6
    places=$((5 * cores + 4))
    [ "$1" != tsan ] || places=$((5 * cores + 1))
    echo "$places"
}

# Reruns each failed test alone, because other tests may slow it down. After a sanitizer's finding, reruns none.
run_alone() {
    local log=build/ci/$1/ctest.log timeout=$2 number name
    if grep -qE '(Address|Leak|Thread)Sanitizer|runtime error:' "$log"; then
        return
    fi
    cp "build/ci/$1/Testing/Temporary/LastTestsFailed.log" "$log.failed" 2>/dev/null || return 0
    while IFS=: read -r number name; do
        say "$1: $name (test $number) failed while others ran; running it alone"
        if "${launcher[@]}" ctest --test-dir "build/ci/$1" -R "^$name\$" \
            --output-on-failure --no-tests=error --timeout "$timeout" </dev/null; then
            alone+=("$1: $name")
            passed=$((passed + 1))
            failed=$((failed - 1))
        fi
    done <"$log.failed"
}

run_tests() {
    local log=build/ci/$1/ctest.log timeout=600 ok=1 counts
    [ "$1" = release ] || timeout=1800
    say_what_is_left_out "$1"
    "${launcher[@]}" ctest --test-dir "build/ci/$1" -L "^(${labels[$1]})\$" -j"$(places "$1")" \
        --output-on-failure --no-tests=error --timeout "$timeout" 2>&1 | tee "$log" || ok=0
    read -ra counts <<<"$(count "$log")"
    passed=$((passed + counts[0]))
    skipped=$((skipped + counts[2]))
    # ctest may fail although none of its tests failed.
    [ "$ok" = 1 ] || [ "${counts[1]}" -gt 0 ] || counts[1]=1
    failed=$((failed + counts[1]))
    [ "$ok" = 1 ] || run_alone "$1" "$timeout"
}

# Runs a script and counts it by its exit code: 0 passed, 77 skipped with a printed reason.
run_script() {
    local code=0
    say
    say "==== $1 ===="
    "$1" || code=$?
    case $code in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) && say "$1 has failed ($code)" ;;
    esac
}

run_build() {
    say
    say "==== $1 ===="
    if ! build "$1"; then
        say "$1: the build has failed"
        failed=$((failed + 1))
        return
    fi
    choose_launcher "$1"
    if [ "$1" != release ] && ! "${launcher[@]}" "build/ci/$1/lumeq" --version >/dev/null; then
        say "$1: programs with this sanitizer do not run on this machine"
        failed=$((failed + 1))
        return
    fi
    run_tests "$1"
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # sourced for its functions

cd -- "$root"
if [ "${builds[0]}" = hosts ]; then
    for script in tests/hosts/*.sh; do
        run_script "$script"
    done
    builds=()
else
    needed=(ffmpeg python3 xvfb xdotool git openssl libpipewire-0.3:libpipewire-0.3-dev pipewire wireplumber
        "gst-launch-1.0=gstreamer1.0-tools gstreamer1.0-pipewire")
    [ "${#builds[@]}" -eq 1 ] || needed+=(strace mpv clang-tidy cppcheck
        ffnvcodec:libffmpeg-nvenc-dev "python3-config=python3-dev python3-venv"
        "vulkaninfo=vulkan-tools mesa-vulkan-drivers" libobs:libobs-dev
        "gstreamer-video-1.0:libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-good"
        gstreamer-cuda-1.0:libgstreamer-plugins-bad1.0-dev
        "melt=melt frei0r-plugins-dev gstreamer1.0-plugins-bad"
        "gstreamer-rtsp-server-1.0:libgstrtspserver-1.0-dev gstreamer1.0-rtsp gstreamer1.0-plugins-ugly")
    prepare "$install" "${needed[@]}"
    ! have ninja || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
    # With a fixed seed, only changed code changes the results. Other seeds test other cases.
    export CHECK_SEED=${CHECK_SEED:-0}
    say "random content: CHECK_SEED=$CHECK_SEED"
    set_sanitizer_options
    if [ "${#builds[@]}" -gt 1 ]; then
        labels[release]+="|hard" labels[asan]+="|hard"
        fetch_vapoursynth
        [ ! -e /usr/include/frei0r.h ] || plugins+=(-DLUMEQ_FREI0R=ON)
    else
        export CHECK_SHORT=1 # see check.h
    fi
fi
for name in "${builds[@]}"; do
    run_build "$name"
done
[ "${#builds[@]}" -le 1 ] || run_script tests/static/run.sh

for name in "${alone[@]}"; do
    say "passed only alone: $name"
done
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
say
say "$line"
[ "$failed" = 0 ]
