#!/usr/bin/env bash
# Lists the error paths that no test takes.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

case ${1-} in
-h | --help)
    cat <<END
usage: coverage.sh [ARGUMENTS]

Builds with --coverage, runs the short tests, and lists the error paths that no test takes in
build/coverage/uncovered.txt. Takes 20 minutes on two cores. ARGUMENTS are those of ctest (-R REGEX).
END
    exit 0
    ;;
esac
cd -- "$root"
build=$root/build/coverage
! have ninja || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
cmake --preset release -B "$build" -DLUMEQ_CUDA=OFF -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=ON \
    "-DCMAKE_C_FLAGS=--coverage -fprofile-update=atomic" "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG"
cmake --build "$build" --parallel "$(cores)"
find "$build" -name '*.gcda' -delete
CHECK_SHORT=1 ctest --test-dir "$build" -L short -j "$(cores)" --timeout 1800 "$@" ||
    say "some tests failed: the list may contain lines that they would have run"
python3 tests/static/uncovered.py "$build" >"$build/uncovered.txt"
tail -n 1 "$build/uncovered.txt"
