#!/usr/bin/env bash
# Checks the container files without building an image: instructions, commands, stages, and copied
# files. If docker is available, also runs its check.
# Argument: the source folder.
set -euo pipefail
source=$1
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# Prints the instructions, one per line, without comments.
instructions() {
    sed '/^ *#/d' "$1" | sed -e ':again' -e '/\\$/N; s/\\\n/ /; t again' | sed '/^ *$/d'
}

for file in "$source"/src/packaging/Containerfile*; do
    name=${file##*/} stages=() last=
    while IFS= read -r line; do
        read -r word rest <<<"$line"
        case $word in
        FROM) [[ ! $rest =~ ' AS '([a-z]+)$ ]] || stages+=("${BASH_REMATCH[1]}") ;;
        RUN) bash -n <<<"$rest" || fail "$name: $rest" ;;
        COPY)
            if [[ $rest =~ ^--from=([a-z]+)' ' ]]; then
                [[ " ${stages[*]} " == *" ${BASH_REMATCH[1]} "* ]] || fail "$name: no stage ${BASH_REMATCH[1]}"
            elif [ ! -e "$source/${rest%% *}" ]; then
                fail "$name: there is no ${rest%% *}"
            fi
            ;;
        ENTRYPOINT | CMD) [[ $rest =~ ^\[(\"[^\"]+\"(, )?)+\]$ ]] || fail "$name: $line" ;;
        ARG | ENV) [[ $rest =~ ^[A-Z_]+= ]] || fail "$name: $line" ;;
        WORKDIR) [[ $rest == /* ]] || fail "$name: $line" ;;
        *) fail "$name: unknown instruction $word" ;;
        esac
        last=$word
    done < <(instructions "$file")
    [ "$last" = CMD ] || fail "$name ends with $last, not CMD"
    [ "${#stages[@]}" = 1 ] || fail "$name: ${#stages[@]} stages have a name, not 1"
    if docker buildx build --help 2>/dev/null | grep -q -- --check && docker info >/dev/null 2>&1; then
        docker buildx build --check -f "$file" "$source" || fail "$name: docker's check fails"
    else
        echo "$name: not checked by docker, which is not available here"
    fi
done
exit "$failed"
