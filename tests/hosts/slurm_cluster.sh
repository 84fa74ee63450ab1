#!/usr/bin/env bash
# Runs samples/cluster/slurm.sh on a Slurm cluster of its own: a controller and two nodes, all on this machine.
# One node is killed while it writes a part. The film must still equal that of a single run. LUMEQ names the
# program; if unset, the program is built in build/ci/hosts/. Needs root. Installs Slurm's packages.
# Exit code: 0 passed, 77 cannot run here, otherwise failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../samples/build.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../../samples/build.sh"

parts=6

skip() {
    say "skipped: $1"
    exit 77
}

wait_for() { # SECONDS WHAT COMMAND...
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || fail "timeout while waiting for $what"
        sleep 0.02
    done
}

# ---- the cluster ----

configure() {
    cat >"$work/slurm.conf" <<END
ClusterName=lumeq
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
MinJobAge=3600
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation=$work/controller
SlurmctldPidFile=$work/controller.pid
SlurmctldLogFile=$work/controller.log
SlurmdSpoolDir=$work/%n
SlurmdPidFile=$work/%n.pid
SlurmdLogFile=$work/%n.log
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=16821 CPUs=1
NodeName=node2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=16822 CPUs=1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    mkdir "$work/controller" "$work/node1" "$work/node2"
}

both_idle() {
    [ "$(sinfo -h -N -o %T | sort | uniq -c | xargs)" = "2 idle" ]
}

start_slurm() {
    configure
    export SLURM_CONF=$work/slurm.conf
    slurmctld -c
    slurmd -N node1
    slurmd -N node2
    wait_for 60 "two nodes" both_idle
}

kill_daemon() { # controller|node1|node2
    local pid
    pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0
    kill -9 "$pid" 2>/dev/null || :
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
    done
}

# Kills a node and its jobs. A job's script lies in the node's folder, and the job's processes share a session.
kill_node() {
    local pid session sessions=()
    kill_daemon "$1"
    for pid in $(pgrep -f "$work/$1/job"); do
        session=$(ps -o sid= -p "$pid" | xargs) && sessions+=("$session")
    done
    for session in "${sessions[@]}"; do
        pkill -9 -s "$session" || :
    done
}

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local code=$?
    kill_daemon controller
    kill_node node1
    kill_node node2
    if [ "$code" != 0 ] && [ "$code" != 77 ]; then
        tail -n 20 "$work"/*.log 2>/dev/null || :
    fi
    cd /
    rm -rf --one-file-system "$work"
}

# ---- the film ----

# Suspends the process that writes a part on this node, and sets `writer` to its id.
find_writer() { # NODE
    for writer in $(pgrep -f "segment $work/film/out.mkv.lumeq/plan"); do
        if tr '\0' '\n' <"/proc/$writer/environ" | grep -qx "SLURMD_NODENAME=$1" &&
            find "/proc/$writer/fd" -lname "$work/film/out.mkv.lumeq/*" 2>/dev/null | grep -q .; then
            kill -STOP "$writer" && return 0
        fi
    done 2>/dev/null
    return 1
}

# For each task of a job, prints its state, how often it was requeued, and its node.
tasks() { # JOB
    scontrol -o show job "$1" | sed -n 's/.*JobState=\(\w*\).* Restarts=\([0-9]*\).* NodeList=\(\S*\).*/\1 \2 \3/p'
}

has_ended() {
    [ -f "$work/film/out.mkv" ] && [ -z "$(squeue -h -t pending,running,completing)" ]
}

frames() {
    ffmpeg -v error -i "$1" -map 0:v -f framemd5 -
}

number() { # measure|segment
    sed -n "s/^submitted:.* $1 \([0-9]*\).*/\1/p" "$work/submitted"
}

[ "$(id -u)" = 0 ] || skip "Slurm's nodes need root"
have apt-get || have slurmctld || skip "Slurm is not installed, and there is no apt-get to install it"
export PATH=$PATH:/usr/sbin
if ! have slurmctld || ! have slurmd || ! have sbatch; then
    missing=slurm-wlm
    (install_packages) || skip "Slurm cannot be installed"
fi
if [ -z "${LUMEQ-}" ]; then
    prepare 1 ffmpeg
    cmake -S "$root" -B "$root/build/ci/hosts" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DLUMEQ_CUDA=OFF
    cmake --build "$root/build/ci/hosts" --parallel "$(cores)" --target lumeq
    LUMEQ=$root/build/ci/hosts/lumeq
fi
export LUMEQ

work=$(mktemp -d)
trap clean_up EXIT
start_slurm
mkdir "$work/film"
cd "$work/film"
ffmpeg -v error -nostdin -f lavfi -t 16 -i "testsrc2=size=1280x720:rate=30,lutyuv=y='64+val/4'" \
    -f lavfi -t 16 -i sine -c:v libx264 -preset ultrafast -g 50 -c:a aac "$work/film/in.mkv"

say "---- one run"
"$LUMEQ" in.mkv -o one.mkv --vcodec ffv1 --two-pass on
frames one.mkv >one.md5

say "---- $parts parts on two nodes"
"$root/samples/cluster/slurm.sh" "$work/film/in.mkv" -o "$work/film/out.mkv" --vcodec ffv1 \
    --parts "$parts" | tee "$work/submitted"
segment=$(number segment)
wait_for 300 "a part on node2" find_writer node2
say "---- killing node2 while it writes a part"
kill_node node2
[ ! -e /proc/"$writer" ] || [ "$(ps -o stat= -p "$writer" | cut -c 1)" = Z ] || fail "the process on node2 still runs"
wait_for 300 "the film" has_ended

say "---- tasks: state, times requeued, node"
for job in measure segment; do
    say "$job" && tasks "$(number $job)"
    for node in node1 node2; do
        [ "$job $node" = "segment node2" ] || tasks "$(number $job)" | grep -q " $node\$" ||
            fail "$job: no task ran on $node"
    done
done
[ "$(tasks "$segment" | grep -c '^COMPLETED ')" = "$parts" ] || fail "not all parts are complete"
tasks "$segment" | grep -q '^COMPLETED [1-9]' || fail "no part was requeued"
frames out.mkv >out.md5
cmp one.md5 out.md5 || fail "the film differs from that of a single run"
[ ! -e out.mkv.lumeq ] || fail "the job's folder was not removed"
say "$(grep -c -v '^#' out.md5) frames, the same as in a single run"
