#!/usr/bin/env bash
# Runs the trials for hours.
set -euo pipefail
args=("$@")
set --
# shellcheck source-path=SCRIPTDIR source=../run.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../run.sh"
set -- "${args[@]}"

usage() {
    cat <<END
usage: run.sh [HOURS [BUILD_DIR...]]

Repeats rounds of trials for HOURS (default: 8), on one core. Each round runs other cases. By default,
two builds are made and tested alternately, one of them with AddressSanitizer. Prints each failure, and finally
the number of runs per exit code. Ends with 1 if a trial failed. CHECK_SEED is the number of the first
round (default: 0).
END
}

hours=8
case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
[0-9]*) hours=$1 && shift ;;
esac
dirs=("$@")
cd -- "$root"
if [ "${#dirs[@]}" = 0 ]; then
    builds=(release asan)
    build release && build asan
    dirs=(build/ci/release build/ci/asan)
fi
set_sanitizer_options
choose_launcher asan

end=$(($(date +%s) + $(awk "BEGIN { print int(3600 * $hours) }")))
round=$((${CHECK_SEED:-0})) first=$round failed=0
counted=$(mktemp)
trap 'rm -f "$counted"' EXIT
while [ "$(date +%s)" -lt "$end" ]; do
    for dir in "${dirs[@]}"; do
        if ! CHECK_SEED=$round nice "${launcher[@]}" ctest --test-dir "$dir" -L '^hard$' --output-on-failure \
            --timeout 7200 >"$dir/hard.log" 2>&1; then
            failed=$((failed + 1))
            say "round $round in $dir:"
            cat "$dir/hard.log"
        fi
        sed -n 's/^TRIALS //p' "$dir/Testing/Temporary/LastTest.log" >>"$counted"
    done
    round=$((round + 1))
done

say "rounds $first to $((round - 1)) in ${dirs[*]}, $hours hours; $failed with failures"
# Adds up lines such as "NAME: 9 runs: 5 done, 4 damaged".
awk -F': ' '{
    n = split($3, part, ", ")
    for (i = 1; i <= n; i++) {
        kind = part[i]
        sub(/^[0-9]+ /, "", kind)
        kinds[kind]
        sum[$1, kind] += part[i]
        total[$1] += part[i]
    }
}
END {
    for (name in total) {
        line = name ": " total[name] " runs"
        for (kind in kinds)
            if (sum[name, kind])
                line = line ", " sum[name, kind] " " kind
        print line
    }
}' "$counted" | sort
[ "$failed" = 0 ]
