# shellcheck shell=bash
# Reads the arguments of slurm.sh and parallel.sh, which source this file under `set -euo pipefail`.

# shellcheck disable=SC2034 # used by the scripts that source this
lumeq=${LUMEQ:-lumeq}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints `usage` for --help. Sets `film`, the arguments before -- (for lumeq plan), and `scheduler`, the
# arguments after --. Also sets `output`, `plan`, `parts` and `overwrite`, from the options in `film`.
# shellcheck disable=SC2034
read_arguments() {
    film=() scheduler=() output='' parts='' overwrite=()
    case ${1-} in
    -h | --help)
        usage
        exit 0
        ;;
    esac
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        case $1 in
        -o | --output) output=${2-} ;;
        --output=*) output=${1#*=} ;;
        --parts) parts=${2-} ;;
        --parts=*) parts=${1#*=} ;;
        -y | --overwrite) overwrite=(-y) ;;
        esac
        film+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    scheduler=("$@")
    [ -n "$output" ] || fail "-o OUT is missing; see --help"
    [[ $parts =~ ^[1-9][0-9]*$ ]] || fail "--parts N is missing: the number of parts"
    plan=$output.lumeq/plan
}

# Prints a script that lists the parts. With -y, it continues a plan of the same options, and replaces any other plan.
list_script() {
    local arguments=() argument
    for argument in "${film[@]}"; do
        [[ $argument =~ ^(-y|--overwrite)$ ]] || arguments+=("$argument")
    done
    if [ ${#overwrite[@]} != 0 ]; then
        printf '[ -e %q ] && %q plan ' "$plan" "$lumeq"
        printf '%q ' "${arguments[@]}"
        printf -- '--no-measure 2>/dev/null || '
    fi
    printf '%q ' "$lumeq" plan "${film[@]}" --no-measure
    printf '|| [ $? = 5 ]'
}
