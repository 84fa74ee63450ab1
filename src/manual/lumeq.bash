# bash completion for lumeq. `lumeq --complete` prints the candidates.
# shellcheck shell=bash
_lumeq()
{
    local current=${COMP_WORDS[COMP_CWORD]} line
    [[ $current != = ]] || current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :file) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
        :folder) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current") ;;
        "$current"*) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -F _lumeq lumeq
