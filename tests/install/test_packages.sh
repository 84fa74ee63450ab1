#!/usr/bin/env bash
# cpack refuses builds that must not become packages: it gives the reason and writes nothing.
# Arguments: cpack, the build folder, ON where it has CUDA, ON where it has a shared library.
set -euo pipefail
cpack=$1 build=$2 cuda=$3 shared=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# The same refusal, whatever this build is.
refuse() { # REASON
    ! "$(dirname "$cpack")/cmake" -DCPACK_GENERATOR="$1" -DCPACK_LUMEQ_REFUSED="$2" \
        -P "$(dirname -- "${BASH_SOURCE[0]}")/../../src/packaging/package_check.cmake" >"$work/log" 2>&1
}
refuse DEB "it is red" || fail "a reason is no obstacle"
grep -q "no packages: it is red" "$work/log" || fail "no reason is said: $(cat "$work/log")"
! refuse DEB "" || fail "without a reason: $(cat "$work/log")"

reason=
[ "$shared" = ON ] || reason="no shared library"
[ "$cuda" != ON ] || reason="CUDA's runtime"
if [ -z "$reason" ]; then
    grep -q '^CMAKE_INSTALL_PREFIX:.*=/usr$' "$build/CMakeCache.txt" && exit 0
    reason="-DCMAKE_INSTALL_PREFIX=/usr"
fi
! (cd "$build" && "$cpack" -B "$work/packages") >"$work/log" 2>&1 || fail "packages were made"
tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$reason" || fail "not said: $reason, but $(cat "$work/log")"
[ -z "$(find "$work/packages" -name '*.deb' 2>/dev/null)" ] || fail "there are packages"
