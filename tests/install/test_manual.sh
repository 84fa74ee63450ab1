#!/usr/bin/env bash
# The manual pages must describe each option of the program and each command of the bench, and formatters
# must accept them without warnings.
# Arguments: the folder of the pages, the program, the bench; or only the reason why there are no pages.
set -euo pipefail
[ $# -gt 1 ] || { echo "skipped: $1"; exit 77; }
pages=$1 lumeq=$2 bench=$3
failed=0

expect() { # PAGE WORD...; in a page, \- stands for -
    local page=$1 text word
    text=$(sed 's/\\-/-/g; s/\\f.//g' "$pages/$page")
    shift
    [ $# -gt 2 ] || { echo "$page: nothing to look for" >&2 && failed=1; }
    for word; do
        grep -qF -- "$word" <<<"$text" || { echo "$page: no $word" >&2 && failed=1; }
    done
}

read -ra options <<<"$("$lumeq" --help=full | grep -oE '^ *(-[a-z], )?--[a-z][a-z-]*' | grep -oE -- '--.*' | tr '\n' ' ')"
[ "${#options[@]}" -gt 80 ] || { echo "fewer than 81 options were found in the help" >&2; exit 1; }
expect lumeq.1 "${options[@]}"
for command in histogram equalize streams; do
    read -ra options <<<"$("$bench" "$command" --help | grep -oE '^  --[a-z-]+' | tr '\n' ' ')"
    expect lumeq-bench.1 "$command" "${options[@]}"
done
expect lumeq.1 OUTPUT.lumeq/ OUTPUT.sample.png NAME.partial.EXT --sample --report --doctor

formatters=0
for page in lumeq.1 lumeq-bench.1; do
    said=
    if command -v groff >/dev/null && groff -v >/dev/null 2>&1; then
        formatters=1
        said=$(LC_ALL=C groff -man -ww -rLL=80n -Tutf8 "$pages/$page" 2>&1 >/dev/null)
    fi
    if command -v mandoc >/dev/null; then
        formatters=1
        said+=$(mandoc -Tlint -Wwarning "$pages/$page" 2>&1 || true)
    fi
    [ -z "$said" ] || { printf '%s: %s\n' "$page" "$said" >&2 && failed=1; }
done
[ "$formatters" = 1 ] || echo "not checked: formatting, because groff and mandoc are not installed"
exit "$failed"
