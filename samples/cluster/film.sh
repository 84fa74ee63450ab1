# shellcheck shell=bash
# What slurm.sh and parallel.sh share: their arguments. To be sourced under `set -euo pipefail`.

# shellcheck disable=SC2034 # used by those who source this
lumeq=${LUMEQ:-lumeq}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Says how the script is called (its `usage`) where that is asked for. Sets `film`, the arguments up to
# --, for lumeq plan; `engine`, those after it; and what is in the first ones: `output`, `plan`, `parts`
# and `overwrite`.
# shellcheck disable=SC2034
read_arguments() {
    film=() engine=() output='' parts='' overwrite=()
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
    engine=("$@")
    [ -n "$output" ] || fail "-o OUT is missing; --help shows how it is called"
    [[ $parts =~ ^[1-9][0-9]*$ ]] || fail "--parts N is missing: how many parts there are to be"
    plan=$output.lumeq/plan
}

# A script that lists the parts. With -y a plan that is for the same is gone on with, too, and another is replaced.
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
