#!/usr/bin/env bash
# cpack must refuse builds that cannot become packages: it prints the reason and writes nothing.
# Arguments: cpack, the build folder, ON if it has CUDA, ON if it has a shared library.
set -euo pipefail
cpack=$1 build=$2 cuda=$3 shared=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# Succeeds if cpack's check refuses a build for this reason.
refuse() { # GENERATOR REASON
    ! "$(dirname "$cpack")/cmake" -DCPACK_GENERATOR="$1" -DCPACK_LUMEQ_REFUSED="$2" \
        -P "$(dirname -- "${BASH_SOURCE[0]}")/../../src/packaging/package_check.cmake" >"$work/log" 2>&1
}
refuse DEB "it is red" || fail "the check does not refuse"
grep -q "no packages: it is red" "$work/log" || fail "the check prints no reason: $(cat "$work/log")"
! refuse DEB "" || fail "the check refuses without a reason: $(cat "$work/log")"

reason=
[ "$shared" = ON ] || reason="no shared library"
[ "$cuda" != ON ] || reason="CUDA's runtime"
if [ -z "$reason" ]; then
    grep -q '^CMAKE_INSTALL_PREFIX:.*=/usr$' "$build/CMakeCache.txt" && exit 0
    reason="-DCMAKE_INSTALL_PREFIX=/usr"
fi
! (cd "$build" && "$cpack" -B "$work/packages") >"$work/log" 2>&1 || fail "cpack does not refuse this build"
tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$reason" || fail "cpack does not print '$reason', but: $(cat "$work/log")"
[ -z "$(find "$work/packages" -name '*.deb' 2>/dev/null)" ] || fail "cpack wrote packages"
