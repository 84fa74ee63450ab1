#!/usr/bin/env bash
# A film in parts on machines that ssh reaches, by GNU parallel.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=film.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/film.sh"

usage() {
    cat <<END
usage: parallel.sh IN -o OUT --parts N [lumeq's options] [-- parallel's options]

Lists the parts here, has them measured, plans here, has them written, joins here. IN, OUT and lumeq, or
the program that LUMEQ names, have to be there by the same names on all machines. What follows -- goes
to GNU parallel, which takes this machine alone without it: --sshlogin 2/one,2/two,: --retries 3 takes
two parts at a time on each of two machines, and as many as there are cores here. The same command
goes on with what was broken off: parts that are done are left alone.
END
}

read_arguments "$@"
command -v parallel >/dev/null || fail "GNU parallel is not there (Debian and Ubuntu: apt install parallel)"

# That the input is damaged (5) is said again at the end by the join.
step() {
    "$lumeq" "$@" || [ $? = 5 ]
}

# each STEP: over all parts. A shell there sees the last word of the command.
each() {
    local count
    count=$(grep -c ^part "$plan") || fail "$plan has no parts"
    seq 0 $((count - 1)) | parallel --quote --will-cite --workdir "$PWD" --halt soon,fail=1 \
        "${engine[@]}" sh -c '"$@" || [ $? = 5 ]' part "$lumeq" "$1" "$plan"
}

bash -c "$(list_script)"
each measure
step plan "$plan"
each segment
"$lumeq" join "$plan" "${overwrite[@]}"
