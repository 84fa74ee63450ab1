#!/usr/bin/env bash
# Writes a film in parts on several machines over ssh, with GNU parallel.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=film.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/film.sh"

usage() {
    cat <<END
usage: parallel.sh IN -o OUT --parts N [lumeq's options] [-- parallel's options]

Lists the parts here, measures them on all machines, plans here, writes the parts on all machines and
joins them here. IN, OUT and lumeq (or the program in LUMEQ) must have the same names everywhere.
Options after -- go to GNU parallel, which otherwise uses this machine only. For example,
--sshlogin 2/one,2/two,: --retries 3 runs two parts at a time on each of two machines, and one per core
here. After an interruption, the same command continues; finished parts are skipped.
END
}

read_arguments "$@"
command -v parallel >/dev/null || fail "GNU parallel is not installed (Debian and Ubuntu: apt install parallel)"

# Exit code 5 (damaged input) is no failure here: the join reports damage at the end.
step() {
    "$lumeq" "$@" || [ $? = 5 ]
}

# each STEP: runs the step for all parts. GNU parallel appends the part's number to the command.
each() {
    local count
    count=$(grep -c ^part "$plan") || fail "$plan has no parts"
    seq 0 $((count - 1)) | parallel --quote --will-cite --workdir "$PWD" --halt soon,fail=1 \
        "${scheduler[@]}" sh -c '"$@" || [ $? = 5 ]' part "$lumeq" "$1" "$plan"
}

bash -c "$(list_script)"
each measure
step plan "$plan"
each segment
"$lumeq" join "$plan" "${overwrite[@]}"
