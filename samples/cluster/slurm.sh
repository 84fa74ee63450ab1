#!/usr/bin/env bash
# A film in parts on a Slurm cluster: submits its steps, each of which waits for the one before.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=film.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/film.sh"

usage() {
    cat <<END
usage: slurm.sh IN -o OUT --parts N [lumeq's options] [-- sbatch's options]

Submits five jobs: list the parts, measure them (an array), plan, write them (an array), join. IN, OUT
and lumeq, or the program that LUMEQ names, have to be there by the same names on all nodes. What
follows -- goes to sbatch for each job: --partition=long --cpus-per-task=8 --mem=4G --time=4:00:00.
A job whose node fails is queued again. The same command goes on with what was broken off: parts that
are done are left alone. What the steps say is in OUT.log.
END
}

read_arguments "$@"
command -v sbatch >/dev/null || fail "sbatch is not there: this is for machines that can submit to Slurm"

# submit NAME AFTER SCRIPT OPTION...: prints the number of the job.
submit() {
    local name=$1 after=$2 script=$3
    shift 3
    [ -z "$after" ] || set -- "--dependency=afterok:$after" --kill-on-invalid-dep=yes "$@"
    sbatch --parsable --job-name="lumeq-$name" --requeue --output="$output.log" --open-mode=append \
        "$@" "${engine[@]}" <<<"#!/usr/bin/env bash"$'\n'"$script" | cut -d ';' -f 1
}

# A line of a script that runs lumeq. That the input is damaged (5) is said again at the end by the
# join, and does not stop the others.
step() {
    printf '%q ' "$lumeq" "$@"
    echo '|| [ $? = 5 ]'
}

# The same for a part: there may be fewer than were asked for.
part_step() {
    # shellcheck disable=SC2016 # the script's own
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
