/* The files of a job: written data comes back, and damaged files are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "check.h"
#include "job/film_parts.h"
#include "job/frame_file.h"
#include "job/job_plan.h"
#include "job/part_file.h"
#include "media/checksum.h"

#define FRAMES 40
#define MOST_BYTES 4100

static char parent[] = "/tmp/lumeq-job-XXXXXX";
static char folder[sizeof(parent) + 16], output[sizeof(parent) + 4];

static char *in_folder(const char *name)
{
    char *path = job_path(folder, name);
    if (!path)
        abort();
    return path;
}

/* ---- checksums ---- */

/* By its definition, a bit at a time. */
static uint32_t slow_checksum(uint32_t sum, const uint8_t *bytes, size_t size)
{
    sum = ~sum;
    for (size_t i = 0; i < 8 * size; i++)
        sum = sum >> 1 ^ ((sum ^ bytes[i / 8] >> i % 8) & 1 ? UINT32_C(0xedb88320) : 0);
    return ~sum;
}

static void test_checksums(void)
{
    uint8_t bytes[300];
    CheckRandom random = check_random(6);
    CHECK(checksum(0, "123456789", 9) == UINT32_C(0xcbf43926), "it is not zip's");
    CHECK(checksum(7, NULL, 0) == 7, "of no bytes");
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)check_below(&random, 256);
    for (int i = 0; i < 1000; i++) {
        const size_t at = (size_t)check_below(&random, 40);
        const size_t first = (size_t)check_below(&random, 130);
        const size_t second = (size_t)check_below(&random, 130);
        const uint32_t all = slow_checksum(0, bytes + at, first + second);
        const uint32_t found = checksum(checksum(0, bytes + at, first), bytes + at + first, second);
        CHECK(found == all, "%zu and %zu bytes from %zu: %08x, not %08x", first, second, at, found,
              all);
    }
}

/* ---- frames ---- */

typedef struct Known {
    MeasuredFrame frame;
    size_t size;
    uint8_t bytes[MOST_BYTES];
} Known;

static Known known[FRAMES];

/* Like curves: alternating words that differ a little from those of the frame before; sizes that
 * change, and nothing at all. */
static void make_known(CheckRandom *random)
{
    static const size_t sizes[] = {2056, 2056, 4099, 0, 3};
    for (int i = 0; i < FRAMES; i++) {
        Known *k = &known[i];
        const Known *before = i ? k - 1 : NULL;
        *k = (Known){.size = sizes[i % 16 < 12 ? 0 : i % 5]};
        k->frame = (MeasuredFrame){
            .pts = i * 40 + check_below(random, 3) - 1000,
            .duration = 40,
            .width = 1920,
            .height = i == 9 ? 1088 : 1080,
            .range = i % 7 == 0,
            .damaged = i == 5,
            .interlaced = i > 20,
            .mark = (uint32_t)check_below(random, INT32_MAX) * 2u,
        };
        for (size_t n = 0; n < k->size; n++) {
            const int noise = check_below(random, 64);
            k->bytes[n] = (uint8_t)(before && noise ? before->bytes[n] : noise * i);
        }
    }
}

static void write_frames(void)
{
    MediaError error = {0};
    FrameWriter writer = {0};
    JobPart part;
    CHECK(record_writer_open(&writer.out, in_folder("frames"), &error) == 0, "%s", error.text);
    for (int i = 0; i < FRAMES; i++) {
        void *bytes = frame_writer_reserve(&writer, known[i].size);
        if (!CHECK(bytes, "out of memory"))
            return;
        memcpy(bytes, known[i].bytes, known[i].size);
        CHECK(frame_writer_add(&writer, &known[i].frame, &error) == 0, "%s", error.text);
    }
    CHECK(part_curves_commit(&writer, &part, &error) == 0, "%s", error.text);
    frame_writer_close(&writer);
}

/* Reads the file, and returns how many frames it has, or a fault. *same is 0 if one differs. */
static int read_frames(int *same, MediaError *error)
{
    FrameReader reader = {0};
    MeasuredFrame frame;
    const void *bytes;
    size_t length;
    int count = 0;
    *same = 1;
    int ret = record_file_open(&reader.file, in_folder("frames"), "lumeq-curves", NULL, 0, error);
    while (ret >= 0 && (ret = frame_reader_next(&reader, &frame, &bytes, &length, error)) > 0) {
        const Known *k = &known[count++ % FRAMES];
        *same &= measured_is_same(&frame, &k->frame) && frame.damaged == k->frame.damaged &&
                 frame.mark == k->frame.mark && length == k->size &&
                 memcmp(bytes, k->bytes, length) == 0;
    }
    frame_reader_close(&reader);
    return ret < 0 ? ret : count;
}

static void test_frames(void)
{
    CheckRandom random = check_random(1);
    MediaError error = {0};
    int same;
    make_known(&random);
    write_frames();
    CHECK(read_frames(&same, &error) == FRAMES && same, "%s", error.text);
}

/* Every damaged byte is found, and every cut. */
static void test_damaged_frames(void)
{
    CheckRandom random = check_random(2);
    char *path = in_folder("frames");
    struct stat about;
    FILE *file = fopen(path, "r+b");
    CHECK(file && fstat(fileno(file), &about) == 0, "it cannot be read");
    for (int i = 0; file && i < 300; i++) {
        const long at = check_below(&random, (int)about.st_size);
        MediaError error = {0};
        int same;
        fseek(file, at, SEEK_SET);
        const int was = getc(file);
        fseek(file, at, SEEK_SET);
        putc((was + 1 + check_below(&random, 255)) & 0xff, file);
        fflush(file);
        CHECK(read_frames(&same, &error) < 0 && error.text[0], "byte %ld may be another one", at);
        fseek(file, at, SEEK_SET);
        putc(was, file);
        fflush(file);
    }
    for (off_t left = about.st_size - 1; left >= 0; left -= 977) {
        MediaError error = {0};
        int same;
        CHECK(truncate(path, left) == 0 && read_frames(&same, &error) < 0 && error.text[0],
              "%ld bytes are a file", (long)left);
    }
    fclose(file);
    free(path);
}

/* Writes one record as it is, with checksums that are right: its reader must not trust it. */
static void craft(const Record *head, const void *bytes, size_t size)
{
    MediaError error = {0};
    RecordWriter writer = {0};
    CHECK(record_writer_open(&writer, in_folder("frames"), &error) == 0 &&
              record_writer_add(&writer, head, bytes, size, &error) == 0 &&
              record_writer_commit(&writer, "lumeq-curves", NULL, 0, NULL, &error) == 0,
          "%s", error.text);
    record_writer_close(&writer);
}

static void refuses_crafted(size_t i)
{
    MediaError error = {0};
    int same;
    CHECK(read_frames(&same, &error) == MEDIA_INPUT && error.text[0], "record %zu is taken", i);
}

/* Records that cannot be unpacked. */
static void test_crafted_frames(void)
{
    static const struct {
        uint32_t first;       /* size that the record claims to unpack to */
        size_t plain, behind; /* bytes in the stream and after it */
    } records[] = {
        {UINT32_MAX, 48, 0},
        {UINT32_MAX, 1 << 20, 0},
        {(4 << 20) + 1, 5 << 20, 0},
        {4 << 20, 1000, 0},
        {8, 7, 0},
        {8, 12, 0},
        {8, 1 << 20, 0},
        {8, 8, 1000},
    };
    uint8_t *const plain = calloc(1, 5 << 20), packed[1 << 14] = {0};
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        uLongf length = sizeof(packed) - 1000;
        const Record head = {.first = records[i].first};
        CHECK(compress(packed, &length, plain, records[i].plain) == Z_OK, "it is too long");
        craft(&head, packed, length + records[i].behind);
        refuses_crafted(i);
    }
    free(plain);
}

/* Times that overflow as soon as something is added to them. */
static void test_frames_out_of_range(void)
{
    static const MeasuredFrame frames[] = {{.pts = INT64_MAX},
                                           {.pts = INT64_MIN},
                                           {.duration = INT64_MAX},
                                           {.pts = INT64_C(1) << 62},
                                           {.duration = -(INT64_C(1) << 62)}};
    uint8_t packed[64];
    uLongf length = sizeof(packed);
    CHECK(compress(packed, &length, (const uint8_t *)"", 0) == Z_OK, "it is too long");
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        const Record head = {.frame = frames[i]};
        craft(&head, packed, length);
        refuses_crafted(i);
    }
}

/* ---- the plan ---- */

static void make_plan(JobPlan *plan)
{
    *plan = (JobPlan){.folder = strdup(folder),
                      .ready = 1,
                      .program = strdup("lumeq 1"),
                      .input = strdup("/a %41\nb\x01\xff.mkv"),
                      .output = strdup(output),
                      .identity = {0, 12, -34},
                      .encoder = strdup("ffv1"),
                      .encoder_threads = 3,
                      .decoder_threads = 5,
                      .codes = {7600, 8365},
                      .zero = -5,
                      .time_base = {1, 90000},
                      .frames = INT64_C(5000000000),
                      .length_us = 7,
                      .film_end = INT64_MIN,
                      .damage = strdup("the input is damaged: 50 %"),
                      .wanted_parts = 4};
    CHECK(text_list_add(&plan->arguments, "--vopt=a=b c") == 0 &&
              text_list_add(&plan->arguments, "--gamma=2") == 0,
          "no memory");
    for (int i = 0; i < 3; i++)
        *job_plan_add_part(plan) = (JobPart){.first = i,
                                             .frames = i ? 10 + i : INT64_C(5000000000) - 23,
                                             .begin_pts = i ? i : INT64_MIN,
                                             .end_pts = i < 2 ? i + 1 : INT64_MAX,
                                             .seek_us = i - 1,
                                             .before_pts = -i,
                                             .before = {0xffffffff, 1},
                                             .curves = 0x80000000};
}

static void check_plan(const JobPlan *a, const JobPlan *b)
{
    CHECK(!strcmp(a->input, b->input) && !strcmp(a->output, b->output) && !b->rows, "another file");
    CHECK(!memcmp(&a->identity, &b->identity, sizeof(a->identity)), "another identity");
    CHECK(a->zero == b->zero && a->time_base.den == b->time_base.den && a->frames == b->frames &&
              a->film_end == b->film_end && a->encoder_threads == b->encoder_threads &&
              a->decoder_threads == b->decoder_threads && a->length_us == b->length_us &&
              a->wanted_parts == b->wanted_parts && a->codes[0] == b->codes[0] &&
              a->codes[1] == b->codes[1],
          "another number");
    CHECK(a->ready == b->ready && a->mark == b->mark && !strcmp(a->damage, b->damage),
          "another state");
    CHECK(b->arguments.count == 2 && !strcmp(b->arguments.all[0], "--vopt=a=b c") &&
              !strcmp(b->arguments.all[1], "--gamma=2"),
          "other arguments");
    if (!CHECK(b->part_count == 3, "%d parts", b->part_count))
        return;
    for (int i = 0; i < 3; i++) {
        const JobPart *p = &a->parts[i], *q = &b->parts[i];
        CHECK(p->first == q->first && p->frames == q->frames && p->begin_pts == q->begin_pts &&
                  p->end_pts == q->end_pts && p->seek_us == q->seek_us &&
                  p->before_pts == q->before_pts && p->before[0] == q->before[0] &&
                  p->before[1] == q->before[1] && p->curves == q->curves,
              "part %d is another one", i);
    }
}

static void test_plan(void)
{
    char *path = in_folder("plan");
    JobPlan plan, again = {0};
    MediaError error = {0};
    make_plan(&plan);
    CHECK(job_plan_write(&plan, &error) == 0, "%s", error.text);
    CHECK(job_plan_read(&again, path, "lumeq 1", &error) == 0, "%s", error.text);
    check_plan(&plan, &again);
    job_plan_free(&again);
    CHECK(job_plan_read(&again, path, "lumeq 2", &error) == MEDIA_INPUT, "another program's");
    job_plan_free(&again);
    job_plan_free(&plan);
    free(path);
}

/* With a checksum that is right, as somebody who edits it would have it. */
static void test_edited_plans(void)
{
    static const char *const lines[][2] = {
        {"decoder-threads 5", "decoder-threads 100000"},
        {"decoder-threads 5", "decoder-threads -1"},
        {"encoder-threads 3", "encoder-threads 257"},
        {"depth 0", "depth 9"},
        {"codes 7600 8365", "codes 7600 65536"},
        {"codes 7600 8365", "codes 8366 8365"},
        {"codes 7600 8365", "codes -1 8365"},
        {"zero -5", "zero -9223372036854775807"},
        {"length 7", "length -1"},
        {"frames 5000000000", "frames 5000000001"},
        {"frames 5000000000", "frames -1"},
        {"time-base 1 90000", "time-base 1 0"},
        {"time-base 1 90000", "time-base -1 90000"},
        {"wanted-parts 4", "wanted-parts 100000"},
        {"part 1 11 ", "part 1 -11 "},
        {"part 1 11 ", "part -1 11 "},
        {"part 1 11 1 2 0", "part 1 11 1 2 9223372036854775807"},
        {"part 1 11 1 2 0", "part 1 11 -9223372036854775807 2 0"},
        {"part 1 11 1 2 0 -1", "part 1 11 1 2 0 9223372036854775807"},
    };
    char *path = in_folder("plan"), text[4096], edited[4200];
    FILE *file = fopen(path, "rb");
    const size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    char *const last = text + size - 13, end = *last; /* the last line */
    *last = '\0';
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char *at = strstr(text, lines[i][0]);
        JobPlan plan = {0};
        MediaError error = {0};
        if (!CHECK(at, "the plan has no %s", lines[i][0]))
            continue;
        const int length = snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - text), text,
                                    lines[i][1], at + strlen(lines[i][0]));
        file = fopen(path, "wb");
        fprintf(file, "%send %08x\n", edited, checksum(0, edited, (size_t)length));
        fclose(file);
        CHECK(job_plan_read(&plan, path, "lumeq 1", &error) == MEDIA_INPUT &&
                  strstr(error.text, "wrong or missing"),
              "%s: %s", lines[i][1], error.text);
        job_plan_free(&plan);
    }
    *last = end;
    file = fopen(path, "wb");
    fwrite(text, 1, size, file);
    fclose(file);
    free(path);
}

static void test_damaged_plans(void)
{
    CheckRandom random = check_random(3);
    char *path = in_folder("plan"), text[4096];
    FILE *file = fopen(path, "rb");
    const size_t size = fread(text, 1, sizeof(text), file);
    fclose(file);
    for (int i = 0; i < 500; i++) {
        const size_t at = (size_t)check_below(&random, (int)size);
        const int cut = check_below(&random, 4) == 0;
        const char was = text[at];
        JobPlan plan = {0};
        MediaError error = {0};
        text[at] = (char)(was + 1 + check_below(&random, 255));
        file = fopen(path, "wb");
        fwrite(text, 1, cut ? at : size, file);
        fclose(file);
        CHECK(job_plan_read(&plan, path, "lumeq 1", &error) == MEDIA_INPUT && error.text[0],
              "byte %zu may be another one", at);
        job_plan_free(&plan);
        text[at] = was;
    }
    free(path);
}

/* ---- parts ---- */

static void test_parts(void)
{
    static const uint8_t extradata[] = {1, 2, 3};
    const PartLabel label = {.plan = 0xabcdef01, .part = 3, .frames = 9};
    CheckRandom random = check_random(4);
    char *path = in_folder("part");
    AVPacket *packet = av_packet_alloc();
    RecordWriter writer = {0};
    PartFile part;
    MediaError error = {0};
    CHECK(record_writer_open(&writer, strdup(path), &error) == 0, "%s", error.text);
    for (int i = 0; i < 300; i++) {
        CHECK(av_new_packet(packet, i) == 0, "no memory");
        memset(packet->data, i, (size_t)i);
        packet->pts = 7 * i;
        packet->dts = i ? 7 * i - 20 : AV_NOPTS_VALUE;
        packet->duration = 7;
        packet->flags = i % 5 ? 0 : AV_PKT_FLAG_KEY;
        if (i % 9 == 0)
            *av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 1) = (uint8_t)i;
        CHECK(part_writer_add(&writer, packet, &error) == 0, "%s", error.text);
        av_packet_unref(packet);
    }
    CHECK(part_writer_commit(&writer, &label, extradata, sizeof(extradata), &error) == 0, "%s",
          error.text);
    record_writer_close(&writer);

    CHECK(part_file_open(&part, strdup(path), &error) == 0, "%s", error.text);
    CHECK(part.count == 300 && part.label.plan == label.plan && part.label.part == 3 &&
              part.label.frames == 9 && part.extradata_size == 3 &&
              !memcmp(part.extradata, extradata, 3),
          "another label");
    for (int n = 0; n < 50; n++) {
        const int i = check_below(&random, 300);
        CHECK(part_file_read(&part, i, packet, &error) == 0, "%s", error.text);
        size_t size = 0;
        const uint8_t *side = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size);
        CHECK(packet->size == i && (!i || packet->data[i - 1] == (uint8_t)i) &&
                  packet->pts == 7 * i && packet->dts == (i ? 7 * i - 20 : AV_NOPTS_VALUE) &&
                  !(packet->flags & AV_PKT_FLAG_KEY) == (i % 5 != 0) &&
                  (i % 9 ? !side : side && size == 1 && *side == (uint8_t)i),
              "packet %d is another one", i);
        av_packet_unref(packet);
    }
    part_file_close(&part);
    av_packet_free(&packet);
    free(path);
}

/* Commits two packets, the first with these flags, the second with this pts. 1: it worked. */
static int commits(int flags, int64_t second)
{
    const PartLabel label = {.part = 3};
    char *path = in_folder("open");
    AVPacket *packet = av_packet_alloc();
    RecordWriter writer = {0};
    MediaError error = {0};
    CHECK(record_writer_open(&writer, strdup(path), &error) == 0, "%s", error.text);
    for (int i = 0; i < 2; i++) {
        packet->pts = i ? second : 10;
        packet->flags = i ? 0 : flags;
        CHECK(part_writer_add(&writer, packet, &error) == 0, "%s", error.text);
    }
    const int ret = part_writer_commit(&writer, &label, (const uint8_t *)"x", 1, &error);
    CHECK(ret >= 0 || (ret == MEDIA_USAGE && strstr(error.text, "part 3")), "%s", error.text);
    record_writer_close(&writer);
    av_packet_free(&packet);
    (void)unlink(path);
    free(path);
    return ret >= 0;
}

static void test_groups_are_closed(void)
{
    CHECK(commits(AV_PKT_FLAG_KEY, 11), "a closed group was refused");
    CHECK(!commits(0, 11), "a part began without a key frame");
    CHECK(!commits(AV_PKT_FLAG_KEY, 9), "a part began with an open group");
}

static int reads_whole(const char *path, AVPacket *packet)
{
    PartFile part;
    MediaError error = {0};
    int ret = part_file_open(&part, strdup(path), &error);
    for (int64_t i = 0; ret >= 0 && i < part.count; i++) {
        ret = part_file_read(&part, i, packet, &error);
        av_packet_unref(packet);
    }
    CHECK(ret >= 0 || error.text[0], "there is no sentence");
    part_file_close(&part);
    return ret >= 0;
}

static void test_damaged_parts(void)
{
    CheckRandom random = check_random(5);
    char *path = in_folder("part");
    AVPacket *packet = av_packet_alloc();
    struct stat about;
    CHECK(stat(path, &about) == 0 && reads_whole(path, packet), "the part cannot be read");
    for (int i = 0; i < 400; i++) {
        const long at = check_below(&random, (int)about.st_size);
        FILE *file = fopen(path, "r+b");
        fseek(file, at, SEEK_SET);
        const int was = getc(file);
        fseek(file, at, SEEK_SET);
        putc((was + 1 + check_below(&random, 255)) & 0xff, file);
        fclose(file);
        CHECK(!reads_whole(path, packet), "byte %ld may be another one", at);
        file = fopen(path, "r+b");
        fseek(file, at, SEEK_SET);
        putc(was, file);
        fclose(file);
    }
    for (off_t left = about.st_size - 1; left >= 0; left -= 977) {
        CHECK(truncate(path, left) == 0 && !reads_whole(path, packet), "%ld bytes are a part",
              (long)left);
    }
    av_packet_free(&packet);
    free(path);
}

/* ---- where a film is cut ---- */

static int64_t quarter_of(int64_t us)
{
    return us < 0 ? -1 : us / 250000;
}

/* Cuts a thousand frames, one of them damaged, into twenty parts. */
static void cut(JobPlan *plan, int damaged, int64_t (*number)(int64_t time_us))
{
    MediaError error = {0};
    FilmFrames frames = {.all = calloc(1000, sizeof(*frames.all)), .count = 1000};
    for (int i = 0; i < 1000; i++)
        frames.all[i] = (MeasuredFrame){
            .pts = i, .duration = 1, .mark = (uint32_t)i + 1, .damaged = i == damaged};
    *plan = (JobPlan){.time_base = {1, 100}, .zero = 30000};
    CHECK(film_frames_cut(&frames, plan, 20, 0, number, &error) == 0, "%s", error.text);
    film_frames_free(&frames);
    for (int i = 0; i < plan->part_count; i++) {
        const JobPart *p = &plan->parts[i];
        CHECK(i ? p->first == p[-1].first + p[-1].frames && p->begin_pts == p->first &&
                      p[-1].end_pts == p->first && p->before_pts == p->first - 1 &&
                      p->before[0] == p->first && p->before[1] == p->first - 1
                : p->first == 0 && p->begin_pts == INT64_MIN && p->seek_us == -1,
              "part %d begins with %lld", i, (long long)p->first);
        CHECK(!i || (p->first != damaged && llabs(p->first - damaged) > 96),
              "part %d begins in damage", i);
        CHECK(!i || !number || p->first % 25 == 3, "part %d begins with an old number", i);
    }
    CHECK(plan->frames == 1000 &&
              plan->parts[plan->part_count - 1].first + plan->parts[plan->part_count - 1].frames ==
                  1000,
          "frames are missing");
}

/* Cuts are in order, and at least 97 frames away from damage. */
static void test_cuts(void)
{
    JobPlan plan;
    cut(&plan, 500, NULL);
    CHECK(plan.part_count == 18 && plan.parts[9].first == 597, "%d parts", plan.part_count);
    job_plan_free(&plan);
    cut(&plan, 500, quarter_of);
    CHECK(plan.part_count == 17 && plan.parts[1].first == 53 && plan.parts[9].first == 603,
          "%d parts", plan.part_count);
    job_plan_free(&plan);
    /* The damage reaches to the end, so the last cuts are left out. */
    cut(&plan, 950, NULL);
    CHECK(plan.part_count == 18 && plan.parts[17].first == 850, "%d parts", plan.part_count);
    job_plan_free(&plan);
}

static const CheckTest tests[] = {
    {"checksums", test_checksums},
    {"frames", test_frames},
    {"damaged_frames", test_damaged_frames},
    {"crafted_frames", test_crafted_frames},
    {"frames_out_of_range", test_frames_out_of_range},
    {"plan", test_plan},
    {"edited_plans", test_edited_plans},
    {"damaged_plans", test_damaged_plans},
    {"parts", test_parts},
    {"damaged_parts", test_damaged_parts},
    {"cuts", test_cuts},
    {"groups_are_closed", test_groups_are_closed},
};

int main(int argc, char **argv)
{
    if (!mkdtemp(parent))
        return 1;
    snprintf(output, sizeof(output), "%s/out", parent);
    snprintf(folder, sizeof(folder), "%s.lumeq", output);
    if (mkdir(folder, 0700) < 0)
        return 1;
    const int ret = check_main(tests, (int)(sizeof(tests) / sizeof(tests[0])), argc, argv);
    static const char *const names[] = {"frames", "plan", "part"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = in_folder(names[i]);
        (void)remove(path);
        free(path);
    }
    (void)rmdir(folder);
    (void)rmdir(parent);
    return ret;
}
