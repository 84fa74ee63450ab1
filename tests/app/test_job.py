"""Jobs encode a film in parts: plan, measure, segment, join, --jobs and --resume."""

import contextlib
import glob
import random

from common import *

LIBRARY = os.environ.get("FAULTY_DISK_LIBRARY", "")
PROGRAM = os.environ.get("FAKE_GPU_PROGRAM", "")
NOT_YET = r"\.lumeq-.*"  # suffix of unfinished files
KILLS = int(os.environ.get("JOB_KILLS", 2 if SHORT or SANITIZED else 12))

# Open groups of pictures, in which B pictures refer to pictures before the key frame.
OPEN = ("-c:v", "libx264", "-preset", "fast", "-bf", "3", "-x264-params", "keyint=20:min-keyint=20:scenecut=0:open-gop=1")
ONE_THREAD = ("--threads", 1)  # several threads may decode damaged pictures differently in each run
TIMES = ("decode_us", "upload_us", "equalize_us", "download_us", "sink_us")


def film():
    """Four seconds with sound, in open groups of pictures."""
    return clip("film.mkv", *OPEN, "-c:a", "aac", seconds=4, sound=4, size="96x64")


def whole_film():
    """The film with subtitles, tags, chapters and an attachment."""
    path = Store.path("whole.mkv")
    if not os.path.exists(path):
        write_bytes(Store.path("words.srt"), b"1\n00:00:00,500 --> 00:00:01,500\nHello\n\n"
                    b"2\n00:00:02,000 --> 00:00:03,000\nThere\n")
        write_bytes(Store.path("tags.txt"), b";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\n"
                    b"title=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=Two\n")
        ffmpeg("-i", film(), "-i", Store.path("words.srt"), "-i", Store.path("tags.txt"), "-map", "0", "-map", "1",
               "-map_metadata", "2", "-map_chapters", "2", "-c", "copy", "-c:s", "srt", "-metadata:s:s:0", "language=eng",
               "-attach", Store.path("words.srt"), "-metadata:s:t", "mimetype=text/plain", path)
    return path


def damaged(name, source, *shares):
    """A copy in MPEG-TS that lacks eight packets at each of these shares of its length."""
    path = Store.path(name)
    if not os.path.exists(path):
        ffmpeg("-i", source, "-c", "copy", path)
        data = read_bytes(path)
        for share in shares:
            at = int(share * len(data)) // 188 * 188
            data = data[:at] + data[at + 188 * 8:]
        write_bytes(path, data)
    return path


def damaged_film():
    return damaged("damaged.ts", film(), 0.5)


def film_damaged_twice():
    # MPEG-2, because FFmpeg's threads for H.264 conceal damage differently in each run.
    return damaged("twice.ts", clip("twice-sound.ts", "-c:v", "mpeg2video", "-bf", "2", "-g", "20", "-q:v", "4",
                                    "-c:a", "aac", seconds=8, sound=8), 0.2, 0.8)


def cut_off_film():
    path = Store.path("cut.mkv")
    if not os.path.exists(path):
        data = read_bytes(film())
        write_bytes(path, data[:len(data) * 3 // 5])
    return path


def damage_lines(result):
    """The messages about damage, without numbers that depend on FFmpeg's threads."""
    return [re.sub(r"; \d+ frames? with errors in the picture", "", line) for line in result.err.splitlines()
            if "the input is damaged" in line]


def timed_frames(path):
    """The pixel format, and each frame's time and hash."""
    lines = ffmpeg("-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-").decode()
    return [video(path)["pix_fmt"]] + re.findall(r"^0, +\d+, +(\d+), .* (\w+)$", lines, re.M)


def frames(path):
    """The pixel format, and each frame's hash."""
    pix_fmt, *found = timed_frames(path)
    return [pix_fmt] + [hashed for _, hashed in found]


def overwrite(path, at, data):
    """Overwrites bytes at this offset, which counts from the end if it is negative."""
    with open(path, "r+b") as f:
        f.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        f.write(data)


class JobCase(Case):
    of_one_run = None

    def plan(self, source, *options, name="out.mkv", parts=3):
        """Makes a plan, and returns its path."""
        self.ok("plan", *self.job_of(source, "--parts", parts, "-q", *options, name=name))
        return self.path(name + ".lumeq/plan")

    def parts(self, plan):
        return int(re.search(r"^wanted-parts (\d+)", self.text(plan), re.M)[1])

    def text(self, plan):
        return read_bytes(plan).decode()

    def measure(self, plan, parts):
        for part in parts:
            self.ok("measure", plan, part, "-q")

    def segments(self, plan, *options):
        for part in range(self.parts(plan)):
            self.ok("segment", plan, part, "-q", *options)

    def joined(self, plan, code=DONE):
        """Joins a plan's finished parts, and returns the output."""
        self.exits(code, "join", plan, "-q")
        self.assertFalse(os.path.exists(os.path.dirname(plan)), "the job's folder remains")
        return os.path.dirname(plan)[:-len(".lumeq")]

    def is_film(self):
        self.assertEqual(frames(self.path("out.mkv")), self.film_frames())

    def makes(self, plan, of_one_run):
        """Makes all parts, joins them, and checks that the film has these frames."""
        self.segments(plan)
        self.assertEqual(frames(self.joined(plan)), of_one_run)

    def job_of(self, source, *options, name="out.mkv"):
        return (source, "-o", self.path(name), "--vcodec", "ffv1", *options)

    def faulty(self, **more):
        """An environment in which calls for files in the test's folder may fail (faulty_disk.c)."""
        env = dict(environment(), LD_PRELOAD=LIBRARY, FAULTY_DISK_IN=self.folder, **more)
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
        return env

    def one_run(self, source, *options, code=DONE, name="one.mkv"):
        self.exits(code, *self.job_of(source, "--two-pass", "on", "-q", "-y", *options, name=name))
        return self.path(name)

    def film_frames(self):
        """The frames that a single run makes of film(); cached."""
        if not JobCase.of_one_run:
            JobCase.of_one_run = frames(self.one_run(film()))
            os.unlink(self.path("one.mkv"))
        return JobCase.of_one_run


class Equal(JobCase):
    """The output of a job equals that of one run."""

    def check(self, source, *options, parts=3, code=DONE, measured=()):
        """Compares a job with one run. `measured`: also a job whose parts are measured separately."""
        one = self.exits(code, source, "-o", self.path("one.mkv"), "--vcodec", "ffv1", "--two-pass", "on", "-q", "-y", *options)
        for more in ((), ("--no-measure",)) if measured else ((),):
            plan = self.plan(source, *options, *more, parts=parts)
            if more:
                self.measure(plan, range(parts))
                self.ok("plan", plan, "-q")
            self.segments(plan, "--threads", 3)
            result = self.exits(code, "join", plan, "-q")
            self.assertEqual(damage_lines(result), damage_lines(one))
            out = self.path("out.mkv")
            self.assertEqual(timed_frames(out), timed_frames(self.path("one.mkv")))
            for track in ("a:0", "s:0"):
                self.assertEqual(packets(out, track), packets(self.path("one.mkv"), track))
            os.unlink(out)

    def test_kinds_of_video(self):
        changing = clip("vfr.mkv", *X264, "-g", 10, "-fps_mode", "vfr", seconds=3,
                        filters="setpts='PTS+mod(N,5)*0.004/TB+floor(N/20)*0.3/TB'")
        fields = clip("fields.ts", "-c:v", "mpeg2video", "-q:v", 3, "-g", 12, "-bf", 2, "-flags", "+ilme+ildct",
                      seconds=2, rate=50, filters="interlace")
        dark = clip("dark.mkv", *OPEN, seconds=3, source="testsrc2=size=160x90:rate=25,lutyuv=y='16+val/7',"
                                                         "noise=alls=8:allf=t")
        for source, *options in share([(changing,), (fields, "--deinterlace", "on"), (fields,), (dark,),
                                       (dark, "--mode", "clahe"), (dark, "--deflicker", "0.5"),
                                       (film(), "--ss", "0.9", "--to", "3.1"), (film(), "--mode", "off"),
                                       (film(), "--ss", "0.5", "--frames", "50"), (film(), "--reference"),
                                       (film(), "--overlay"), (film(), "--compare", "split"),
                                       (film(), "--compare", "side")], 6):
            with self.subTest(os.path.basename(source) + " " + " ".join(options)):
                self.check(source, *options)
        for parts in some((1, 7)):
            self.check(film(), parts=parts)
        # libavformat guesses some durations, depending on where reading began.
        self.check(clip("short.wmv", "-c:v", "wmv2", "-g", 12, rate=24, seconds=1.5))
        self.check(dark, "--pix-fmt", "auto10", "--lookahead", "0.2", measured=True)
        self.assertEqual(video(self.path("one.mkv"))["pix_fmt"], "yuv420p10le")

    def test_damaged(self):
        """The exit code and the message about damage are those of one run."""
        for source, words, *parts in some(((damaged_film(), "unreadable", 8), (film_damaged_twice(), "unreadable"),
                                           (cut_off_film(), "early"))):
            with self.subTest(os.path.basename(source)):
                self.check(source, *ONE_THREAD, parts=(parts or [4])[0], code=DAMAGED, measured=not parts)
                self.assertIn(words, self.exits(DAMAGED, source, "--null", "-q").err)

    def rows(self, name):
        """The rows of statistics, without timings."""
        return [{k: v for k, v in row.items() if k not in TIMES} for row in read_rows(self.path(name))]

    def test_everything_else_of_a_film(self):
        """Other tracks, chapters, tags and statistics are those of one run."""
        noise = clip("noise10.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv420p10le", seconds=1,
                     source="nullsrc=size=192x108:rate=25,format=yuv420p10le,geq=lum='random(1)*1023':cb=512:cr=512")
        for source, ending, count in ((whole_film(), ".csv", 100), (noise, ".jsonl", 25)):
            one = self.one_run(source, "--stats", self.path("one" + ending))
            plan = self.plan(source, "--stats", self.path("out" + ending))
            self.segments(plan)
            out = self.joined(plan)
            a, b = contents(one), contents(out)
            for key in ("streams", "chapters"):
                self.assertEqual(a[key], b[key])
            self.assertEqual(a["format"].get("tags"), b["format"].get("tags"))
            self.assertEqual(frames(out), frames(one))
            self.assertEqual(len(self.rows("one" + ending)), count)
            self.assertTrue(self.rows("one" + ending) == self.rows("out" + ending), "the statistics differ")
            os.unlink(out)

    def test_parts_begin_where_the_overlay_changes(self):
        source = clip("panel.mkv", "-c:v", "libx264", "-preset", "ultrafast", seconds=1,
                      source="testsrc2=size=640x360:rate=25,lutyuv=y='16+val/7',noise=alls=8:allf=t,fade=d=1")
        one = self.ok(source, "-o", self.path("one.mkv"), "--vcodec", "ffv1", "--two-pass", "on", "--overlay")
        self.assertNotIn("too small", one.err)
        plan = self.plan(source, "--overlay", parts=3)
        self.assertEqual(re.findall(r"^part (\d+)", self.text(plan), re.M), ["0", "13", "19"])
        self.makes(plan, frames(self.path("one.mkv")))

    def lossy(self, ending, *options):
        """Runs a job and one run, checks the frames' times, and returns both outputs."""
        plan = self.plan(film(), *options, name="out" + ending, parts=2)
        self.segments(plan)
        out, one = self.joined(plan), self.one_run(film(), *options, name="one" + ending)
        self.assertEqual(frame_times(out), frame_times(one))
        return out, one

    def check_groups(self, out):
        """Checks that no frame decoded after a key frame is shown before the key frame."""
        key = None
        for p in contents(out)["packets"]:
            if p["codec_type"] == "video" and "pts" in p:
                key = int(p["pts"]) if "K" in p["flags"] else key
                self.assertGreaterEqual(int(p["pts"]), key)

    def test_encoders(self):
        """Every frame keeps its time with encoders that delay frames, renumber packets, or wait for the end."""
        for name, ending, *options in share([("libvpx-vp9", ".webm", "--vopt", "cpu-used=8"), ("mpeg2video", ".ts"),
                                             ("libsvtav1", ".mp4", "--preset", "12"), ("mpeg4", ".avi"),
                                             ("libx265", ".mp4", "--preset", "ultrafast", "--vopt", "g=20"),
                                             ("mjpeg", ".mov")], 6):
            with self.subTest(name):
                if not has_encoder(name):
                    self.skipTest("FFmpeg has no " + name)
                out, _ = self.lossy(ending, "--vcodec", name, *options)
                self.check_groups(out)
                os.unlink(out)
        self.lossy(".mkv", "--vcodec", "libx264", "--vopt", "x264-params=keyint=20:open-gop=1")

    def test_a_part_does_not_depend_on_threads(self):
        """A part is the same on any machine, even if the encoder's output depends on its number of threads."""
        plan = self.plan(film(), "--vcodec", "libx264", "--preset", "veryfast", parts=2)
        part = plan[:-4] + "part-00001"
        made = {1: set(), 3: set()}
        for threads in 3 * list(made):  # x264's output differs in one of 30 runs
            self.ok("segment", plan, 1, "-q", "-y", "--threads", threads)
            made[threads].add(self.read(part))
        self.assertTrue(made[1] & made[3])

    def test_pictures_out_of_order(self):
        """Decoding times rise, and no frame is shown before it is decoded."""
        out, one = self.lossy(".mp4", "--vcodec", "libx264", "--preset", "fast")
        found = [p for p in contents(out)["packets"] if p["codec_type"] == "video"]
        dts, pts = [int(p["dts"]) for p in found], [int(p["pts"]) for p in found]
        self.assertEqual(dts, sorted(set(dts)))
        self.assertTrue(all(d <= p for d, p in zip(dts, pts)))
        self.assertNotEqual(pts, sorted(pts), "the clip should have pictures out of order")
        self.assertEqual(packets(out), packets(one))


class Steps(JobCase):
    def test_measured_in_parts(self):
        """Parts can be measured separately, even if the video has intra refresh instead of key frames."""
        source = clip("refresh.mkv", "-c:v", "libx264", "-preset", "fast", "-x264-params", "keyint=50:intra-refresh=1",
                      seconds=4, filters="noise=alls=8:allf=t")
        one = self.one_run(source)
        plan = self.plan(source, "--no-measure", parts=4)
        self.refused(lumeq("segment", plan, "0"), USAGE, "not finished", "lumeq measure")
        self.refused(lumeq("plan", plan), INPUT, "part 0 is not measured", "lumeq measure PLAN 0")
        self.measure(plan, (3, 1, 0, 2))
        self.ok("plan", plan, "-q")
        self.makes(plan, frames(one))

    def test_fewer_frames_than_the_parts_have(self):
        """The frame rate falls in the clip, so that the last part begins after the last wanted frame."""
        source = clip("slows.mkv", *X264, "-g", 10, "-fps_mode", "passthrough", "-enc_time_base", "1:1000", seconds=4,
                      filters="settb=1/1000,setpts='if(lt(N,80),N/3,27+(N-80)*5)/25/TB'")
        plan = self.plan(source, "--frames", 60, "--no-measure", parts=4)
        self.measure(plan, range(4))
        self.assertNotIn("further back", self.ok("plan", plan, "-v").err)
        self.makes(plan, frames(self.one_run(source, "--frames", 60)))

    def test_damaged_measures(self):
        """`lumeq plan` names the command that repeats a damaged measurement."""
        plan = self.plan(film(), "--no-measure", parts=3)
        self.measure(plan, range(3))
        for at in (40, -40):
            overwrite(plan[:-4] + "measured-00001", at, b"xxxx")
            self.refused(lumeq("plan", plan), INPUT, "measured-00001", "lumeq measure PLAN 1 -y measures it again")
            self.ok("measure", plan, 1, "-y", "-q")
            self.assertIn("already measured", self.ok("measure", plan, 1).err)
        self.ok("plan", plan, "-q")
        self.makes(plan, self.film_frames())

    def test_packets_without_times(self):
        """A film without timestamps is encoded as one part."""
        source = self.path("raw.h264")
        ffmpeg("-i", film(), "-c", "copy", "-an", "-f", "h264", source)
        plan = self.plan(source, parts=2)
        self.segments(plan)
        self.assertEqual(len(frames(self.joined(plan))), 101)

    def test_only_the_part_is_read(self):
        plan = self.plan(clip("long.ts", *OPEN, "-c:a", "aac", seconds=11, sound=11, size="96x64"), "--no-measure", parts=5)
        for part, least, most in ((0, 2, 5), (4, 10, 13)):
            self.ok("measure", plan, part, "-q")
            data = self.read(plan[:-4] + "measured-%05d" % part)
            count = struct.unpack("q", data[-16:-8])[0]
            read = struct.unpack("q", data[-40 - 72 * count - 24:][:8])[0]  # PartMeasures.damage.part.any_end
            zero = 1.4  # the first time of an MPEG-TS
            self.assertTrue(least < read / 1e6 - zero < most, read)

    def test_the_part_from_the_environment(self):
        plan = self.plan(film())
        env = {k: v for k, v in environment().items() if k not in ("SLURM_ARRAY_TASK_ID",)}
        for part, (name, value) in enumerate((("SLURM_ARRAY_TASK_ID", "0"), ("JOB_COMPLETION_INDEX", "1"),
                                              ("PARALLEL_SEQ", "3"))):
            self.ends(start("segment", plan, "-q", env=dict(env, **{name: value})))
            self.assertTrue(os.path.exists(os.path.dirname(plan) + "/part-%05d" % part), name)
        for name, value in (("PARALLEL_SEQ", "0"), ("SLURM_ARRAY_TASK_ID", "x"), ("JOB_COMPLETION_INDEX", "")):
            self.refused(finish(start("segment", plan, "-q", env=dict(env, **{name: value}))), USAGE, name)
        self.refused(finish(start("segment", plan, "-q", env=env)), USAGE, "SLURM_ARRAY_TASK_ID")
        self.joined(plan)

    def test_each_step_can_be_repeated(self):
        plan = self.plan(film())
        text = self.text(plan)
        self.ok("plan", film(), "-o", self.path("out.mkv"), "--vcodec", "ffv1", "--parts", 3)
        self.assertEqual(self.text(plan), text)
        self.segments(plan)
        part = os.path.dirname(plan) + "/part-00001"
        before = os.stat(part).st_mtime_ns
        self.assertIn("already exists", self.ok("segment", plan, 1).err)
        self.assertEqual(os.stat(part).st_mtime_ns, before)
        self.ok("segment", plan, 1, "-y", "-q")
        self.assertNotEqual(os.stat(part).st_mtime_ns, before)
        out = self.joined(plan)
        state = os.stat(out)
        self.refused(lumeq("join", plan), INPUT, "there is no plan", "out.mkv")
        self.assertEqual(os.stat(out), state)

    def test_files_with_the_names_of_commands(self):
        for word in ("plan", "measure", "segment", "join"):
            shutil.copy(simple(), self.path(word))
            self.ok("./" + word, "--null", "-q", cwd=self.folder)
            self.ok("--null", word, "-q", cwd=self.folder)
            self.refused(lumeq(word, cwd=self.folder), USAGE, "./" + word)

    def test_settings_are_in_the_plan(self):
        settings = self.write("config", b"mode = stretch\nprofile = fog\n")
        plan = self.plan(film(), "--config", settings, "--gamma", "1.5")
        self.assertIn("argument --mode=stretch", self.text(plan))
        self.assertIn("argument --gamma=1.5", self.text(plan))
        one = self.one_run(film(), "--config", settings, "--gamma", "1.5")
        os.unlink(settings)
        self.makes(plan, frames(one))


class BadInput(JobCase):
    def setUp(self):
        super().setUp()
        self.source = self.path("in.mkv")
        shutil.copy2(film(), self.source)
        self.made = self.plan(self.source)
        self.job = os.path.dirname(self.made)

    def join_refused(self, *words, code=INPUT):
        self.refused(lumeq("join", self.made), code, *words)
        self.assertFalse(os.path.exists(self.path("out.mkv")))

    def change(self, name, at, data):
        overwrite(os.path.join(self.job, name), at, data)

    def test_missing_parts_are_named(self):
        self.ok("segment", self.made, 1, "-q")
        self.join_refused("2 of 3 parts are missing: 0, 2", "lumeq segment PLAN K")

    def test_wrong_parts_are_refused(self):
        self.segments(self.made)
        part = os.path.join(self.job, "part-00001")
        shutil.copy(part, self.path("kept"))
        size = os.path.getsize(part)
        other = os.path.join(self.job, "part-00002")

        def cut():
            os.truncate(part, size // 2)

        for spoil, *words in some(((lambda: self.change("part-00001", -260, b"xxxx"), "checksum"),
                                   (lambda: self.change("part-00001", 100, b"xxxx"), "checksum"),
                                   (cut, "cut off"),
                                   (lambda: os.truncate(part, 10), "too short"),
                                   (lambda: shutil.copy(other, part), "part 2, not part 1"),
                                   (lambda: shutil.copy(simple(), part), "not a part of a film"))):
            with self.subTest(words[0]):
                spoil()
                self.join_refused("part-00001", "lumeq segment PLAN 1 -y", *words)
                shutil.copy(self.path("kept"), part)
        # A part of another plan of the same film.
        self.ok("plan", self.source, "-o", self.path("other.mkv"), "--vcodec", "ffv1", "--parts", 3, "--gamma", 2, "-q")
        self.ok("segment", self.path("other.mkv.lumeq/plan"), 1, "-q")
        shutil.copy(self.path("other.mkv.lumeq/part-00001"), part)
        self.join_refused("part-00001", "belongs to another plan")
        # Bad parts are made again.
        self.ok("segment", self.made, 1, "-q")
        self.joined(self.made)

    def test_wrong_plans_are_refused(self):
        text = self.text(self.made)

        def rewritten(old, new):
            """The plan's text with a change and a correct checksum."""
            body = text[:text.rindex("end ")].replace(old, new)
            return body + "end %08x\n" % zlib.crc32(body.encode())

        for new, *words in some(((text.replace("frames 100", "frames 101"), "damaged"),
                                 (text[:-30], "damaged"), ("", "does not start with lumeq-plan"),
                                 (text.replace("lumeq-plan 15", "lumeq-plan 9"), "has version 9"),
                                 (rewritten("program lumeq ", "program lumeq 9."), "same program"),
                                 (rewritten("\nframes ", "\nframs "), "wrong or missing"))):
            with self.subTest(words[0]):
                self.rewrite(new)
                self.refused(lumeq("segment", self.made, "0"), INPUT, *words)
                self.join_refused(*words)
                job = self.job_of(self.source)
                for again in (("plan", *job, "--parts", "3"), (*job, "--jobs", "1"), (*job, "--jobs", "1", "--resume")):
                    self.refused(lumeq(*again), USAGE, "already has another plan", *words)
                self.assertEqual(self.text(self.made), new)
        self.refused(lumeq("join", self.path("nothing/plan")), INPUT, "there is no plan")
        self.refused(lumeq("join", self.job), INPUT, "Is a directory")
        self.rewrite(text)
        self.change("curves-00000", 1000, b"xxxxxxxx")
        self.refused(lumeq("segment", self.made, "0"), INPUT, "curves-00000", "checksum")

    def test_an_unreadable_part_is_made_again(self):
        self.segments(self.made)
        self.change("part-00001", 100, b"xxxx")
        self.join_refused("part-00001", "checksum")
        self.assertNotIn("part-00001", os.listdir(self.job))
        result = self.ok(*self.job_of(self.source, "--jobs", 1, "--resume"))
        self.assertIn("2 of 3 parts already exist", result.err)
        self.assertEqual(self.files(), ["in.mkv", "out.mkv"])

    def test_foreign_files_in_the_folder_stay(self):
        """Only regular files whose names are exactly those of a job are removed."""
        mine = ["plan.txt", "planning", "plan-2024", "curves", "curves.svg", "part-1.doc", "part-000001", "part-00001.bak",
                "measured-00001.csv", "rows-1.csv", "rows-00001.txt", "report-00001",
                "lumeq-notes", "joining.txt", ".plan", ".plan-old.tmp", ".part-00001.lumeq-0123abcd"]
        ours = [".plan.lumeq-0123abcd.part", "part-00007", "measured-00007", "curves-00007",
                "rows-00007.csv", ".rows-00007.csv.lumeq-0123abcd.part"]
        job = self.job_of(self.source, "--parts", 2, "-q", "-y")
        for name in mine + ours:
            self.write("out.mkv.lumeq/" + name, b"text")
        os.mkdir(os.path.join(self.job, "part-00002"))
        os.symlink(self.write("diary.txt", b"mine"), os.path.join(self.job, "part-00003"))
        kept = sorted(mine + ["part-00002", "part-00003"])
        self.ok("plan", *job)
        self.assertEqual(self.files(self.job), sorted(kept + ["curves-00000", "curves-00001", "measured-00000", "measured-00001", "plan"]))
        self.ok(*job, "--jobs", 1)
        self.assertEqual(self.files(self.job), kept)
        self.assertEqual(self.read("diary.txt"), b"mine")

    def refuses_folder(self, words, name="out.mkv"):
        """Checks that every command refuses the folder and changes nothing in it."""
        plan, job = self.path(name + ".lumeq/plan"), (self.source, "-o", self.path(name), "--vcodec", "ffv1")
        before = {path: os.stat(os.path.join(os.path.dirname(plan), path)) for path in os.listdir(os.path.dirname(plan))}
        for args in (("plan", *job, "-y"), ("plan", *job), (*job, "--jobs", 2, "-y"), (*job, "--jobs", 2),
                     (*job, "--resume"), (*job, "--resume", "-y"), ("join", plan), ("join", plan, "-y"),
                     ("segment", plan, 0), ("segment", plan, 0, "-y"), ("measure", plan, 0), ("plan", plan)):
            with self.subTest(args):
                result = lumeq(*args)
                self.assertIn(result.code, (INPUT, OUTPUT), str(result))
                self.assertIn(words, result.err)
                after = {path: os.stat(os.path.join(os.path.dirname(plan), path)) for path in os.listdir(os.path.dirname(plan))}
                self.assertEqual(after, before)
                self.assertFalse(os.path.exists(self.path(name)))

    def test_wrong_folders(self):
        """A job's folder that is a link or a file, or belongs to another user, is refused."""
        self.segments(self.made)
        if os.geteuid() == 0:  # only root can give a folder away
            os.chown(self.job, 12345, -1)
            self.refuses_folder("it belongs to another user")
            os.chown(self.job, 0, -1)
        os.rename(self.job, self.path("documents"))
        os.symlink("documents", self.job)
        self.refuses_folder("it is a symbolic link")
        self.write("else.mkv.lumeq", b"mine")
        for more in (("-y",), ()):
            result = lumeq(self.source, "-o", self.path("else.mkv"), "--vcodec", "ffv1", "--jobs", 1, *more)
            self.refused(result, OUTPUT, "else.mkv.lumeq", "Not a directory")
        self.assertEqual(self.read("else.mkv.lumeq"), b"mine")

    def test_links_and_fifos_are_refused(self):
        """Links are not followed, and lumeq does not wait for FIFOs and devices."""
        self.segments(self.made)
        target = self.write("diary.txt", b"mine")
        for name, command in (("plan", ("join", self.made)), ("curves-00000", ("segment", self.made, 0, "-y")),
                              ("part-00001", ("join", self.made))):
            path = os.path.join(self.job, name)
            os.rename(path, self.path("kept"))
            for make_it, words in ((os.mkfifo, "not a regular file"),
                                   (lambda path: os.symlink("/dev/zero", path), "symbolic link"),
                                   (lambda path: os.symlink(self.path("kept"), path), "symbolic link")):
                make_it(path)
                with self.subTest(name, words=words):
                    self.refused(lumeq(*command, limit=20), INPUT, name, words)
                os.unlink(path)
            os.rename(self.path("kept"), path)
        part = os.path.join(self.job, "part-00001")
        os.unlink(part)
        os.symlink(target, part)
        self.ok("segment", self.made, 1, "-y", "-q")
        self.assertFalse(os.path.islink(part))
        self.assertEqual(self.read("diary.txt"), b"mine")
        self.joined(self.made)
        fifo = self.path("fifo.mkv")
        os.mkfifo(fifo)
        for way in (("plan", fifo), (fifo, "--jobs", 2)):
            self.refused(lumeq(*way, "-o", self.path("x.mkv"), limit=20), INPUT, "fifo.mkv", "regular file")

    def edited(self, old, new):
        """Changes the plan, with a correct checksum, and returns the old text."""
        text = self.text(self.made)
        body = text[:text.rindex("end ")].replace(old, new, 1)
        self.assertNotEqual(body, text[:text.rindex("end ")])
        self.rewrite(body + "end %08x\n" % zlib.crc32(body.encode()))
        return text

    def rewrite(self, text):
        self.write("out.mkv.lumeq/plan", text.encode())

    def test_edited_plan(self):
        """An edited plan cannot set options that apply to a run, or write any file but its output."""
        self.segments(self.made)
        precious = self.write("precious.mkv", b"mine")
        for line in ("--overwrite=yes", "-y", "--overwrite", "--network=yes", "--config=" + precious, "--output=" + precious,
                     "--stats=" + precious, "--report=" + precious, "--null=yes", "--screenshot-dir=/", "--jobs=2",
                     "--sequence=yes", "--help=full", "--camera=0", "--threads=100000", precious, "--", "--vcodec",
                     "--nonsense=1", "--vcode=ffv1", "--=1", "="):
            text = self.edited("\nargument --vcodec=ffv1\n", "\nargument --vcodec=ffv1\nargument %s\n" % line)
            with self.subTest(line):
                self.join_refused("the plan has the argument", line)
            self.rewrite(text)
        for line, words in (("--vopt=x264-params=dump-yuv=" + precious, "writes a file"),
                            ("--vopt=x264-params=ref=1: dump_yuv=" + precious, "writes a file"),
                            ("--vopt=stats=" + precious, "writes a file"), ("--vopt=b=1M", "rate"),
                            ("--vopt=flags=+pass1", "rate")):
            text = self.edited("\nargument --vcodec=ffv1\n", "\nargument --vcodec=libx264\nargument %s\n" % line)
            with self.subTest(line):
                self.refused(lumeq("segment", self.made, 0, "-y"), USAGE, words)
            self.rewrite(text)
        text = self.edited("out.mkv\n", "precious.mkv\n")
        self.join_refused(code=INPUT)
        self.refused(lumeq("segment", self.made, 0, "-y"), INPUT)
        self.rewrite(text)
        self.assertEqual(self.read("precious.mkv"), b"mine")
        self.joined(self.made)

    def test_an_edited_plan_replaces_no_statistics(self):
        """-y of a join applies only to the output."""
        precious = self.write("precious.csv", b"mine")
        self.edited("\nargument ", "\nstats %s\nargument " % precious)
        for part in range(3):
            self.ok("segment", self.made, part, "-q", "-y")
        self.refused(lumeq("join", self.made, "-y"), USAGE, "precious.csv", "exists")
        self.assertEqual(self.read("precious.csv"), b"mine")
        os.unlink(precious)
        self.ok("join", self.made, "-y", "-q")
        self.assertEqual(len(self.read("precious.csv").splitlines()), 101)

    def test_moved_folder(self):
        """A moved or copied job does not replace the existing output."""
        self.segments(self.made)
        self.write("out.mkv", b"old")
        shutil.copytree(self.job, self.path("copy.mkv.lumeq"))
        os.rename(self.job, self.path("moved.mkv.lumeq"))
        for name in ("copy.mkv", "moved.mkv"):
            for more in ((), ("-y",)):
                result = lumeq("join", self.path(name + ".lumeq/plan"), *more)
                self.refused(result, INPUT, "out.mkv", "moved, copied or edited")
            result = lumeq(self.source, "-o", self.path(name), "--vcodec", "ffv1", "--parts", 3, "--jobs", 1, "--resume")
            self.refused(result, USAGE, "moved, copied or edited", "-y")
            self.assertFalse(os.path.exists(self.path(name)))
        self.assertEqual(self.read("out.mkv"), b"old")
        os.rename(self.path("moved.mkv.lumeq"), self.job)
        self.ok("join", self.made, "-y", "-q")
        self.assertEqual(len(frames(self.path("out.mkv"))), 101)

    def test_another_input(self):
        os.utime(self.source, ns=(1, 1))
        self.refused(lumeq("segment", self.made, "0"), INPUT, "in.mkv", "time differs")
        os.truncate(self.source, os.path.getsize(self.source) + 1)
        self.refused(lumeq("segment", self.made, "0"), INPUT, "in.mkv", "size differs")
        os.unlink(self.source)
        self.refused(lumeq("segment", self.made, "0"), INPUT, "in.mkv", "No such file")

    def test_other_options(self):
        again = ("plan", *self.job_of(self.source, "--parts", 3))
        self.refused(lumeq(*again, "--gamma", 2), USAGE, "--gamma=2", "-y replaces it")
        self.refused(lumeq("segment", self.made, "0", "--gamma", "2"), USAGE, "--gamma", "in the plan")
        self.refused(lumeq("segment", self.made, "3"), USAGE, "no part 3", "0 to 2")
        self.refused(lumeq("segment", self.made, "one"), USAGE, "one")
        self.refused(lumeq("segment", self.made, "0", "1"), USAGE, "unexpected argument '1'")
        self.refused(lumeq("join", self.made, "--threads", "1", "2"), USAGE, "unexpected argument '2'")
        self.ok("segment", self.made, "0", "--overwrite", "--threads", "1", "--open-timeout=50", "-q")
        other = again[:-2]
        for parts in (("--parts", 2), ("--part-seconds", 1)):
            for way in ((*other, *parts), (*other[1:], "--jobs", 1, "--resume", *parts)):
                self.refused(lumeq(*way), USAGE, "already has another plan", "%s=%s" % parts)
        self.assertIn("already has this plan: 3 parts", self.ok(*other).err)
        self.ok(*again, "--gamma", 2, "-y", "-q")
        self.assertIn("--gamma=2", self.text(self.made))

    def test_jobs_that_are_impossible_are_refused(self):
        for options, *words in some(((("--bitrate", "1M"), "--bitrate", "--crf"),
                                     (("--vopt", "b=1M"), "--vopt", "--crf"),
                                     (("--vopt", "x264-params=bitrate=500"), "--vopt", "--crf"),
                                     (("--vopt", "maxrate=1M"), "--vopt"),
                                     (("--devices", "x"), "--devices", "0,1"),
                                     (("--devices", "0,,1"), "--devices", "0,1"),
                                     (("--devices", "1,"), "--devices", "0,1"),
                                     (("--devices", "99999999999"), "--devices", "0,1"),
                                     (("--parts", "3", "--part-seconds", "2"), "--parts", "contradict"),
                                     (("--two-pass", "off", "--deflicker", "1"), "contradict"))):
            with self.subTest(" ".join(options)):
                for way in (("plan", self.source), (self.source, "--jobs", "2")):
                    self.refused(lumeq(*way, "-o", self.path("x.mkv"), *options), USAGE, *words)
        self.refused(lumeq("plan", self.source, "-o", "-"), USAGE, "regular file")
        self.refused(lumeq("plan", self.source, "-o", self.path("x.png")), USAGE)
        self.refused(lumeq("plan", self.source, "-o", self.path("x.y4m")), USAGE, "y4m")
        picture = self.path("in.png")
        ffmpeg("-i", simple(), "-frames:v", 1, picture)
        for way in (("plan", picture), (picture, "--jobs", "2")):
            self.refused(lumeq(*way, "-o", self.path("x.mkv")), USAGE, "in.png", "is a picture")
        os.unlink(picture)
        self.refused(lumeq(self.source, "--jobs", "2"), USAGE, "--jobs", "-o")
        self.refused(lumeq("--camera", "-o", self.path("x.mkv"), "--jobs", "2"), USAGE, "--camera", "--jobs")
        self.refused(lumeq(self.source, "--resume"), USAGE, "--resume", "-o")
        self.refused(lumeq("plan", self.source), INPUT, "not a plan", "-o OUT")
        self.refused(lumeq("plan"), USAGE, "IN -o OUT", "OUT.lumeq/plan", "./plan")
        self.assertEqual(self.files(), ["in.mkv", "out.mkv.lumeq"])


class Run(JobCase):
    a_job = None

    def job(self, *options, source=None, parts=3, env=None):
        return start(*self.job_of(source or film(), "--jobs", 2, "--parts", parts, *options), env=env)

    def test_auto(self):
        self.ok(*self.job_of(film(), "--jobs", "auto", "--devices", "all", "-q"))
        self.is_film()

    def test_film_and_progress(self):
        result = self.ends(self.job("--progress", "json", "-q", parts=5))
        self.is_film()
        self.assertEqual(self.files(), ["out.mkv"])
        shown = [json.loads(line) for line in result.lines]
        self.assertEqual((shown[-1]["state"], shown[-1]["frame"], shown[-1]["frames"]), ("done", 100, 100))
        percent = [s["percent"] for s in shown if s["percent"] is not None]
        self.assertEqual(percent, sorted(percent))

    def kill(self, process, after, alone=False):
        """Sends SIGKILL to the run and its children, or to the run alone. Returns whether it was still running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        for pid in [process.pid] + ([] if alone else self.children(process)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
        self.assertIn(process.returncode, (DONE, -signal.SIGKILL))
        return process.returncode != DONE

    def test_continues_after_a_kill(self):
        """Kills the job at random moments, repeatedly, and then lets it end."""
        one = self.film_frames()
        numbers = random.Random(SEED)
        kills = 0
        while kills < KILLS:
            killed, length = True, self.length()
            for _ in range(min(KILLS, 6)):
                killed = killed and self.kill(self.job("--resume", "-q"), numbers.uniform(0.1, 1) * length,
                                              alone=numbers.random() < 0.5)
                kills += killed
            if killed:
                self.ends(self.job("--resume", "-q"))
            self.assertEqual(frames(self.path("out.mkv")), one)
            self.assertTrue(wait_for(lambda: self.files() == ["out.mkv"]), self.files())
            os.unlink(self.path("out.mkv"))

    def length(self):
        """The duration of a whole job in seconds."""
        if not Run.a_job:
            began = time.monotonic()
            self.ends(self.job("-q", "-y"))
            os.unlink(self.path("out.mkv"))
            Run.a_job = time.monotonic() - began
        return Run.a_job

    def test_a_leftover_is_offered(self):
        process = self.job("-q")
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("out.mkv.lumeq/plan")) or process.poll() is not None))
        process.send_signal(SIGTERM)
        result = finish(process)
        if result.code == DONE:
            self.skipTest("the job ended before it was interrupted")
        self.refused(result, INTERRUPTED, "interrupted", "--resume")
        self.refused(finish(self.job("-q")), USAGE, "out.mkv.lumeq", "--resume", "-y")
        self.refused(finish(self.job("-q", "--resume", "--gamma", "2")), USAGE, "--gamma=2", "-y")
        self.ends(self.job("-q", "--resume"))
        self.is_film()

    def children(self, process):
        found = glob.glob("/proc/%d/task/*/children" % process.pid)
        return [int(pid) for name in found for pid in read_or_nothing(name).split()]

    @unittest.skipUnless(LIBRARY, "FAULTY_DISK_LIBRARY names no library")
    def test_synced_before_the_rename(self):
        """Every file is synced before its rename, and the folder afterwards."""
        log = self.path("log")
        self.ends(self.job("-q", "--stats", self.path("s.csv"), env=self.faulty(FAULTY_DISK_LOG=log)))
        synced, names = set(), []
        for line in read_or_nothing(log).splitlines():
            call, path = line.split()
            if call == "rename":
                self.assertIn(path, synced)
                names.append(re.sub(NOT_YET, "", os.path.basename(path)))
            synced.add(path)
        for name in (".curves-00000", ".plan", ".part-00000", ".part-00002", ".joining", ".out.mkv", ".s.csv"):
            self.assertIn(name, names)
        self.assertIn(self.path("out.mkv.lumeq"), synced)

    def test_interrupted_before_there_is_a_plan(self):
        process = start(long_clip(), "-o", self.path("out.mkv"), "--jobs", 2, "-q")
        self.addCleanup(process.kill)
        self.catches(process, SIGINT)
        process.send_signal(SIGINT)
        self.refused(finish(process), INTERRUPTED, "interrupted")
        self.assertFalse(os.path.exists(self.path("out.mkv")))

    @unittest.skipUnless(LIBRARY, "FAULTY_DISK_LIBRARY names no library")
    def test_full_disk_with_room_again(self):
        """The disk fills while a part is written, and again at the join."""
        for name, words in (("part-00002", "part 2"), (".out.mkv.lumeq-", "out.mkv")):
            result = finish(self.job("-q", "--resume", env=self.faulty(FAULTY_DISK="write", FAULTY_DISK_NAME=name)))
            self.refused(result, OUTPUT, words, "No space left", "--resume")
            self.assertEqual(self.files(), ["out.mkv.lumeq"])
        self.ends(self.job("-q", "--resume"))
        self.is_film()

    @unittest.skipUnless(LIBRARY, "FAULTY_DISK_LIBRARY names no library")
    def test_measured_in_parts(self):
        """A long film is measured in parts. If a part fails, --resume measures it again."""
        source = clip("long.ts", *OPEN, "-c:a", "aac", seconds=11, sound=11, size="96x64")
        env = self.faulty(FAULTY_DISK="write", FAULTY_DISK_NAME="measured-00001")
        self.refused(finish(self.job("-q", source=source, env=env)), OUTPUT, "part 1", "No space left", "--resume")
        result = self.ends(self.job("--resume", source=source))
        self.assertIn("275 frames in 3 parts", result.err)
        self.assertEqual(frames(self.path("out.mkv")), frames(self.one_run(source)))

    def test_a_process_is_killed(self):
        process = self.job("-q", source=long_clip())
        self.addCleanup(process.kill)
        folder = self.path("out.mkv.lumeq")
        self.assertTrue(wait_for(lambda: os.path.isdir(folder) and any("measured" in f for f in os.listdir(folder))))
        os.kill(self.children(process)[0], signal.SIGKILL)
        self.refused(finish(process), OUTPUT, "killed by signal 9", "--resume")

    def test_existing_output_is_replaced(self):
        """The output is not changed until the end."""
        self.write("out.mkv", b"precious")
        options = ("-o", self.path("out.mkv"), "--vcodec", "ffv1", "--parts", 2)
        self.ok("plan", simple(), *options, "-y", "-q")
        plan = self.path("out.mkv.lumeq/plan")
        self.ok("segment", plan, 0, "-q")
        self.refused(lumeq(simple(), *options, "--jobs", 1, "--resume"), USAGE, "out.mkv", "exists", "-y")
        self.assertEqual(self.files(os.path.dirname(plan)), ["curves-00000", "curves-00001", "measured-00000", "measured-00001", "part-00000", "plan"])
        self.refused(lumeq(simple(), *options, "--jobs", 1, "--resume", "-y", "--gamma", 2), USAGE, "--gamma=2",
                     "-y without --resume")
        self.assertEqual(self.read("out.mkv"), b"precious")
        self.assertIn("1 of 2 parts already exist", self.ok(simple(), *options, "--jobs", 1, "--resume", "-y").err)
        self.assertEqual(frames(self.path("out.mkv")), frames(self.one_run(simple())))

    def test_done_before(self):
        """An output is not made again if the same settings made it from the same input."""
        source = self.path("in.mp4")
        shutil.copy(simple(), source)
        self.ends(self.job("-q", source=source, parts=1))
        state = os.stat(self.path("out.mkv"))
        for more in ((), ("-y",)):
            result = self.ends(self.job("--resume", *more, source=source, parts=1))
            self.assertIn("out.mkv' is done", result.err)
        self.refused(finish(self.job("--resume", "-q", "--stats", self.path("s.csv"), source=source, parts=1)), USAGE, "exists")
        self.refused(finish(self.job("--resume", "-q", "--gamma", "2", source=source, parts=1)), USAGE, "exists")
        self.assertEqual(os.stat(self.path("out.mkv")), state)
        os.utime(source, ns=(0, state.st_mtime_ns + 1))
        self.refused(finish(self.job("--resume", "-q", source=source, parts=1)), USAGE, "exists")
        self.ends(self.job("--resume", "-q", "-y", source=source, parts=1))
        self.assertNotEqual(os.stat(self.path("out.mkv")).st_ino, state.st_ino)
        self.refused(lumeq(source, "-o", source, "--resume"), USAGE, "is the input")

    def test_killed_after_the_join(self):
        """The output is complete, but the folder remains. The output's mark, an extended attribute, may be missing."""
        job = self.job_of(damaged_film(), "--parts", 2)
        plan = self.plan(damaged_film(), parts=2)
        self.segments(plan)
        folder = os.path.dirname(plan)
        shutil.copytree(folder, self.path("kept"))
        self.exits(DAMAGED, *job, "--resume", "-q")
        state = os.stat(self.path("out.mkv"))
        note = os.getxattr(self.path("out.mkv"), "user.lumeq.made")
        for way in ((*job, "--resume"), (*job, "--resume", "-y"), ("join", plan)):
            for marked in (True, False):
                shutil.copytree(self.path("kept"), folder)
                if not marked:
                    os.removexattr(self.path("out.mkv"), "user.lumeq.made")
                    self.write("out.mkv.lumeq/joining", note)
                self.assertIn("already complete", self.exits(DAMAGED, *way).err)
                self.assertFalse(os.path.exists(folder))
                self.assertEqual(os.stat(self.path("out.mkv")).st_mtime_ns, state.st_mtime_ns)
                os.setxattr(self.path("out.mkv"), "user.lumeq.made", note)

    def test_another_film_in_its_place(self):
        """A join was killed before its rename, and then another film got the output's name."""
        plan = self.plan(film())
        self.segments(plan)
        self.write("out.mkv.lumeq/joining", b"0123abcd 2 bytes 3.000000000 s, code 0")
        shutil.copy(simple(), self.path("out.mkv"))
        before = self.read("out.mkv")
        for args in (("join", plan), self.job_of(film(), "--parts", 3, "--resume"),
                     ("plan", film(), "-o", self.path("out.mkv"), "--gamma", 3)):
            self.refused(lumeq(*args), USAGE, "out.mkv")
        self.assertEqual(self.read("out.mkv"), before)
        self.ok("join", plan, "-y", "-q")
        self.is_film()


@unittest.skipUnless(PROGRAM, "FAKE_GPU_PROGRAM names no program with fake GPUs")
class Devices(JobCase):
    """Each process, or only each process on the GPU `only`, loses its GPU after five frames."""

    def run_with(self, *args, only=None, when="FAKE_GPU_LOST"):
        env = dict(environment(), FAKE_GPU_LOG=self.path("log"), **{when: "5"})
        if only is not None:
            env["FAKE_GPU_ONLY"] = str(only)
        process = subprocess.Popen([PROGRAM] + [str(a) for a in args], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
        return finish(process)

    def job(self, *options, **lost):
        result = self.run_with(*self.job_of(film(), "--parts", 3, *options), **lost)
        self.assertEqual(result.code, DONE, str(result))
        self.is_film()
        return result

    def log(self):
        """For each process, the number of its GPU and the number of frames that the GPU returned."""
        return [tuple(map(int, line.split())) for line in read_or_nothing(self.path("log")).splitlines()]

    def test_the_cpu_takes_over(self):
        for only in 1, None:
            self.job("--jobs", 2, "--devices", "0,1", only=only)
            self.assertEqual({n for device, n in self.log() if only in (device, None)}, {5}, self.log())
            os.unlink(self.path("log"))
            os.unlink(self.path("out.mkv"))
        self.job("--jobs", 2, "--devices", "2,1", only=2, when="FAKE_GPU_LOST_MEASURES")

    def test_single_steps(self):
        """`lumeq measure` and `lumeq segment` continue on the CPU, also with --backend cuda."""
        plan = self.plan(film(), "--no-measure", parts=2)
        for part in (0, 1):
            result = self.run_with("measure", plan, part, "--backend", "cuda", when="FAKE_GPU_LOST_MEASURES")
            self.assertEqual(result.code, DONE, str(result))
            self.assertIn("the CPU goes on without the GPU", result.err)
        self.ok("plan", plan, "-q")
        for part in (0, 1):
            self.assertEqual(self.run_with("segment", plan, part, "-q", "--backend", "cuda").code, DONE)
        self.assertEqual(frames(self.joined(plan)), self.film_frames())


def read_or_nothing(name):
    try:
        with open(name, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""
