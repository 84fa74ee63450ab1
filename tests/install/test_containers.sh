#!/usr/bin/env bash
# The container files, without making an image: their instructions, commands, stages and named files.
# docker checks them where it can.
# Argument: the source folder.
set -euo pipefail
source=$1
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# Instructions, one per line, without comments.
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
        *) fail "$name: $word is no instruction" ;;
        esac
        last=$word
    done < <(instructions "$file")
    [ "$last" = CMD ] || fail "$name ends with $last"
    [ "${#stages[@]}" = 1 ] || fail "$name: ${#stages[@]} stages have a name"
    if docker buildx build --help 2>/dev/null | grep -q -- --check && docker info >/dev/null 2>&1; then
        docker buildx build --check -f "$file" "$source" || fail "$name: docker has a complaint"
    else
        echo "$name: not asked of docker, which cannot check files here"
    fi
done
exit "$failed"
