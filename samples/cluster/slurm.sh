#!/usr/bin/env bash
# Writes a film in parts on a Slurm cluster: submits five jobs that run in order.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=film.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/film.sh"

usage() {
    cat <<END
usage: slurm.sh IN -o OUT --parts N [lumeq's options] [-- sbatch's options]

Submits five jobs: list the parts, measure them (an array), plan, write them (an array), join. IN, OUT
and lumeq (or the program in LUMEQ) must have the same names on all nodes. Options after -- go to
sbatch for each job, such as --partition=long --cpus-per-task=8 --mem=4G --time=4:00:00. Jobs are queued again
if their node fails. After an interruption, the same command continues; finished parts are skipped.
Messages go to OUT.log.
END
}

read_arguments "$@"
command -v sbatch >/dev/null || fail "sbatch is not installed: run this where jobs can be submitted to Slurm"

# submit NAME AFTER SCRIPT OPTION...: submits a job that starts after the job AFTER; prints its number.
submit() {
    local name=$1 after=$2 script=$3
    shift 3
    [ -z "$after" ] || set -- "--dependency=afterok:$after" --kill-on-invalid-dep=yes "$@"
    sbatch --parsable --job-name="lumeq-$name" --requeue --output="$output.log" --open-mode=append \
        "$@" "${scheduler[@]}" <<<"#!/usr/bin/env bash"$'\n'"$script" | cut -d ';' -f 1
}

# Prints a script line that runs lumeq. Exit code 5 (damaged input) does not stop the other jobs: the
# join reports damage at the end.
step() {
    printf '%q ' "$lumeq" "$@"
    echo '|| [ $? = 5 ]'
}

# Prints a script that runs lumeq for the array task's part, if that part exists.
part_step() {
    # shellcheck disable=SC2016 # the job expands the variable
    printf '[ "$SLURM_ARRAY_TASK_ID" -lt "$(grep -c ^part %q)" ] || exit 0\n' "$plan"
    step "$@"
}

array=--array=0-$((parts - 1))
list=$(submit list '' "$(list_script)")
measure=$(submit measure "$list" "$(part_step measure "$plan")" "$array")
make_plan=$(submit plan "$measure" "$(step plan "$plan")")
segment=$(submit segment "$make_plan" "$(part_step segment "$plan")" "$array")
join=$(submit join "$segment" "$(printf '%q ' "$lumeq" join "$plan" "${overwrite[@]}")")

jobs=$list,$measure,$make_plan,$segment,$join
cat <<END
submitted: list $list, measure $measure, plan $make_plan, segment $segment, join $join
watch:     squeue -j $jobs
           tail -f $(printf %q "$output.log")
cancel:    scancel ${jobs//,/ }
END
