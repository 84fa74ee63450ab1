#!/usr/bin/env bash
# tests/run.sh must rerun each failed test alone, whatever its labels, and list the tests that then pass.
# Argument: the source folder.
set -euo pipefail
source=$1
set --
# shellcheck source=tests/run.sh
. "$source/tests/run.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p build/ci/release
cat >build/ci/release/CTestTestfile.cmake <<'END'
add_test(passes true)
add_test(fails false)
add_test(passes_alone sh -c "test -e once || { touch once; false; }")
add_test(waits_and_passes_alone sh -c "test -e twice || { touch twice; false; }")
set_tests_properties(passes fails passes_alone PROPERTIES LABELS short)
set_tests_properties(waits_and_passes_alone PROPERTIES LABELS "short;waits")
END
launcher=()
run_tests release >run.log
found="$passed passed, $failed failed, $skipped skipped, alone: ${alone[*]}"
wanted="3 passed, 1 failed, 0 skipped, alone: release: passes_alone release: waits_and_passes_alone"
[ "$found" = "$wanted" ] || fail "found: $found, expected: $wanted"
