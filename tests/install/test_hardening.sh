#!/usr/bin/env bash
# Released programs must use the compiler's protections: position-independent code, relocations that are
# read-only before main(), guarded stacks and string functions.
# Arguments: the reason why this build lacks protections, or ""; ON if it guards string functions, or OFF;
# programs and shared libraries.
set -euo pipefail
why=$1 fortified=$2
shift 2
if [ -n "$why" ]; then
    echo "skipped: $why"
    exit 77
fi
command -v readelf >/dev/null || { echo "skipped: readelf (binutils) is not installed"; exit 77; }
failed=0

expect() { # FILE FAULT PATTERN LINES
    if ! grep -qE "$3" <<<"$4"; then
        echo "$1: $2" >&2
        failed=1
    fi
}

for file; do
    dynamic=$(readelf -dW "$file") segments=$(readelf -lW "$file")
    symbols=$(readelf -W --dyn-syms "$file")
    expect "$file" "not position-independent" '^Elf file type is DYN' "$segments"
    case $file in
    *.so | *.so.*) ;;
    *) expect "$file" "not a position-independent program" '\(FLAGS_1\).*\bPIE\b' "$dynamic" ;;
    esac
    expect "$file" "no segment becomes read-only after relocation" '^ *GNU_RELRO' "$segments"
    expect "$file" "functions are bound late: relocations stay writable" \
        '\(BIND_NOW\)|\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b' "$dynamic"
    expect "$file" "the stack is executable, or GNU_STACK is missing" '^ *GNU_STACK .* RW ' "$segments"
    expect "$file" "stacks are not guarded" '__stack_chk_fail' "$symbols"
    [ "$fortified" = OFF ] ||
        expect "$file" "string functions are not guarded" '__v?snprintf_chk|__memcpy_chk' "$symbols"
done
exit "$failed"
