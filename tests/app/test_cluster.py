"""The scripts of samples/cluster make the same film as a single run. Slurm is fake here and real in tests/hosts."""

import stat

from common import *

SCRIPTS = os.path.join(HERE, "../../samples/cluster")

# A fake sbatch. It runs the job at once, logs its own arguments to the file "submitted", and prints the job's number.
SBATCH = r"""#!/usr/bin/env bash
n=$(($(cat number 2>/dev/null || echo 0) + 1))
echo "$n" >number
array=
for option; do
    case $option in
    --array=0-*) array=${option#--array=0-} ;;
    --output=*) log=${option#--output=} ;;
    esac
done
echo "$@" >>submitted
cat >script
if [ -z "$array" ]; then
    bash script >>"$log" 2>&1
else
    for i in $(seq "$array" -1 0); do
        SLURM_ARRAY_TASK_ID=$i bash script >>"$log" 2>&1 || exit
    done
fi || exit
echo "$n;cluster"
"""


# A fake ssh HOST COMMAND. It runs the command here, and sets SHELL for GNU parallel.
SSH = """#!/usr/bin/env bash
export SHELL=/bin/sh
echo "$1" >>%s/hosts
shift
[ "$1" != -- ] || shift
cd / && exec bash -c "$*"
"""


class Cluster(Case):
    def setUp(self):
        super().setUp()
        self.source = self.path("the film's.mkv")
        shutil.copyfile(clip("film.mkv", *X264, "-g", "10", "-c:a", "aac", seconds=2, sound=2), self.source)

    def program(self, name, text):
        """Writes an executable, and returns its folder."""
        os.makedirs(self.path("bin"), exist_ok=True)
        self.write("bin/" + name, text.encode())
        os.chmod(self.path("bin/" + name), stat.S_IRWXU)
        return self.path("bin")

    def script(self, name, *args, path=""):
        env = environment()
        env["LUMEQ"] = LUMEQ
        env["PATH"] = path + ":" + env["PATH"]
        env["HOME"] = self.folder
        p = subprocess.run([os.path.join(SCRIPTS, name)] + list(args), cwd=self.folder, env=env, timeout=LIVENESS,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return Result([name] + list(args), p.returncode, p.stdout, p.stderr)

    def check_film(self, result, name):
        self.assertEqual(result.code, 0, str(result))
        one = self.lossless(self.source, "--two-pass", "on")
        self.assertEqual(Picture(self.path(name)).hashes(), Picture(one).hashes())
        self.assertEqual(payloads(self.path(name)), payloads(one))
        self.assertFalse(os.path.exists(self.path(name + ".lumeq")))

    def test_slurm(self):
        result = self.script("slurm.sh", self.source, "-o", "an out.mkv", "--vcodec", "ffv1", "--parts", "4", "--",
                             "--partition=long", path=self.program("sbatch", SBATCH))
        self.check_film(result, "an out.mkv")
        jobs = self.read("submitted").decode().splitlines()
        self.assertEqual([re.search(r"job-name=lumeq-(\w+)", j)[1] for j in jobs],
                         ["list", "measure", "plan", "segment", "join"])
        self.assertEqual([re.findall("afterok:([0-9]*)", j) for j in jobs], [[], ["1"], ["2"], ["3"], ["4"]])
        self.assertEqual(["--array=0-3" in j for j in jobs], [False, True, False, True, False])
        for job in jobs:
            self.assertIn("--requeue", job)
            self.assertTrue(job.endswith("--partition=long"), job)
        self.assertIn(b"squeue -j 1,2,3,4,5", result.out)

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_parallel(self):
        """Asking for more parts than frames makes one part per frame."""
        ssh = os.path.join(self.program("ssh", SSH % self.folder), "ssh")
        for parts, frames, name in (("3", "20", "out's.mkv"), ("100", "5", "many.mkv")):
            result = self.script("parallel.sh", self.source, "--output=" + name, "--vcodec", "ffv1", "--frames", frames,
                                 "--parts=" + parts, "--", "--ssh", ssh, "--sshlogin", "2/one,1/two")
            self.assertEqual(result.code, 0, str(result))
            one = self.lossless(self.source, "--two-pass", "on", "--frames", frames)
            self.assertEqual(Picture(self.path(name)).hashes(), Picture(one).hashes())
        self.assertEqual(set(self.read("hosts").split()), {b"one", b"two"})

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not installed")
    def test_continues_a_job(self):
        """The script continues a job after any step, and repeats no step."""
        plan = self.path("out.mkv.lumeq/plan")
        film = (self.source, "-o", self.write("out.mkv", b"old"), "-y", "--vcodec", "ffv1", "--parts", "2")
        self.ok("plan", *film, "--no-measure")
        for steps in ((("measure", plan, 1), ), (("measure", plan, 0), ("plan", plan), ("segment", plan, 1))):
            for step in steps:
                self.ok(*step)
            shutil.copytree(self.path("out.mkv.lumeq"), self.path("kept"), dirs_exist_ok=True)
            before = {name: self.read("out.mkv.lumeq/" + name) for name in self.files(self.path("out.mkv.lumeq"))}
            broken = self.script("parallel.sh", *film, path=self.program("parallel", "#!/bin/sh\nexit 1\n"))
            self.assertEqual(broken.code, 1, str(broken))
            left = {name: self.read("out.mkv.lumeq/" + name) for name in before}
            self.assertEqual(left, before)
            self.check_film(self.script("parallel.sh", *film), "out.mkv")
            os.rename(self.path("kept"), self.path("out.mkv.lumeq"))

    def test_missing_arguments_are_named(self):
        for script in ("slurm.sh", "parallel.sh"):
            for args, word in ((("in.mkv", "--parts", "4"), "-o OUT"), (("in.mkv", "-o", "out.mkv"), "--parts N"),
                               (("in.mkv", "-o", "out.mkv", "--parts", "many"), "--parts N")):
                with self.subTest(script=script, args=args):
                    result = self.script(script, *args)
                    self.assertEqual(result.code, 1, str(result))
                    self.assertEqual(len(result.lines), 1, str(result))
                    self.assertIn(word, result.err)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck(self):
        scripts = [os.path.join(SCRIPTS, s) for s in os.listdir(SCRIPTS) if s.endswith(".sh")]
        p = subprocess.run(["shellcheck", "-x"] + scripts, stdout=subprocess.PIPE, timeout=LIVENESS, check=False)
        self.assertEqual(p.returncode, 0, p.stdout.decode())
