#!/usr/bin/env bash
# Tests the completions in each installed shell: options, their values, lists from the program, files with
# spaces in their names, and commands.
# Arguments: the folder of the completions, the folder of the programs.
set -euo pipefail
completions=$1 programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export PATH=$programs:$PATH
cd "$work"
mkdir -p here/folder
touch "here/a film.mkv" here/other.mkv

# These scripts print a shell's matches for a command line, one per line.
cd here
cat >../ask.bash <<'END'
. "$1/lumeq.bash"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_lumeq "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END
cat >../ask.fish <<'END'
source $argv[1]/lumeq.fish
complete -C $argv[2] | string replace -r '\t.*' '' | string replace -r '^--[a-z-]*=' ''
true
END
# zsh completes only in its line editor, so start an interactive zsh. compadd -O stores the matches.
cat >../ask.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
send() { zpty -w z "$1" }
send "PS1= PS2= RPS1=; unsetopt zle_bracketed_paste; stty -echo; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $PWD/../dump"
send 'compadd() { builtin compadd "$@"; local ret=$? x; [[ ${@[(r)-[OAD]]} ]] || { local -a got; builtin compadd -O got "$@"; for x in $got; do print -r -- "@$x" >>'$PWD/../found'; done }; return ret }'
send 'done_() { print done >>'$PWD/../found' }; zle -N done_; bindkey "^X" done_; print ready >>'$PWD/../found
for ((i = 0; i < 600; i++)); do grep -qs ready ../found && break; sleep 0.1; done
rm -f ../found
zpty -w -n z "$2"$'\t\x18'
for ((i = 0; i < 600; i++)); do grep -qs done ../found && break; sleep 0.1; zpty -r -t z reply; done
zpty -d z
grep -h '^@' ../found | cut -c 2- | sort -u
END

# Checks that the completions of LINE include each MATCH, and with "only" nothing else.
expect() { # LINE [only] MATCH...
    local line=$1 only=0 got match
    shift
    if [ "$1" = only ]; then
        only=1
        shift
    fi
    case $shell in
    zsh) got=$(zsh -f ../ask.zsh "$completions" "$line") ;;
    *) got=$("$shell" "../ask.$shell" "$completions" "$line") ;;
    esac
    for match; do
        grep -qxF -- "$match" <<<"$got" || { echo "$shell: $line: no '$match' in: $got" >&2 && failed=1; }
    done
    [ "$only" = 0 ] || [ "$(sed '/^$/d' <<<"$got" | sort -u | wc -l)" = $# ] ||
        { echo "$shell: $line: unexpected matches in: $got" >&2 && failed=1; }
}

shells=
for shell in bash zsh fish; do
    command -v "$shell" >/dev/null || { echo "not tested: $shell is not installed" && continue; }
    shells+=$shell
    expect "lumeq --mode c" only clahe
    expect "lumeq --scr" only --screenshot-dir
    expect "lumeq --profile " fog screen help
    expect "lumeq pl" only plan
    expect "lumeq -o oth" only other.mkv
    [ "$shell" = fish ] || expect "lumeq --mode=s" only stretch # fish's match includes "--mode="
    [ "$shell" != bash ] || expect "lumeq --dither off a" only "a film.mkv"
    [ "$shell" != bash ] || expect "lumeq --help " "a film.mkv" folder
    expect "lumeq in.mkv --mode stretch --outp" only --output
    expect "lumeq in.mkv --vopt x=1 --vop" only --vopt
    if [ "$shell" != fish ]; then # fish also matches within words, and adds / to a folder
        expect "lumeq in.mkv --mode stretch --mod" only # --mode is already on the line
        expect "lumeq --screenshot-dir f" only folder
        expect "lumeq --config=oth" only other.mkv
    fi
done
[ -n "$shells" ] || { echo "skipped: bash, zsh and fish are not installed"; exit 77; }
exit "$failed"
