/* The files of a job: written data comes back, and damaged files are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "check.h"
#include "job/job_plan.h"
#include "job/part_files.h"
#include "media/checksum.h"

#define FRAMES 40
#define MOST_BYTES 4100

static char parent[] = "/tmp/lumeq-job-XXXXXX";
static char folder[sizeof(parent) + 16], output[sizeof(parent) + 4];

/* The plan and the parts that the files belong to. */
static JobPart of_part[4];
static const JobPlan of_plan = {
    .folder = folder, .mark = 0xabcdef01, .parts = of_part, .part_count = 4};

#define PART 3
#define PACKETS 300

/* ---- frames ---- */

typedef struct Known {
    MeasuredFrame frame;
    size_t size;
    uint8_t bytes[MOST_BYTES];
} Known;

static Known known[FRAMES];

/* Fills frames like packed curves: most bytes equal the previous frame's. */
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
    CHECK(record_writer_open(&writer.out, &of_plan, RECORDS_CURVES, PART, &error) == 0, "%s",
          error.text);
    for (int i = 0; i < FRAMES; i++) {
        void *bytes = frame_writer_reserve(&writer, known[i].size, &error);
        if (!CHECK(bytes, "out of memory"))
            return;
        memcpy(bytes, known[i].bytes, known[i].size);
        CHECK(frame_writer_add(&writer, &known[i].frame, &error) == 0, "%s", error.text);
    }
    CHECK(record_writer_commit(&writer.out, NULL, 0, &error) == 0, "%s", error.text);
    of_part[PART].curves = writer.out.end.index;
    frame_writer_close(&writer);
}

/* Returns the number of frames, or a fault. *same becomes 0 if a frame differs. */
static int read_frames(int *same, MediaError *error)
{
    FrameReader reader = {0};
    MeasuredFrame frame;
    int count = 0;
    *same = 1;
    int ret = record_file_open(&reader.file, &of_plan, RECORDS_CURVES, PART, error);
    while (ret >= 0 && (ret = frame_reader_next(&reader, &frame, error)) > 0) {
        const Known *k = &known[count++ % FRAMES];
        *same &= measured_is_same(&frame, &k->frame) && frame.damaged == k->frame.damaged &&
                 frame.mark == k->frame.mark && reader.frame.size == k->size &&
                 memcmp(reader.frame.bytes, k->bytes, k->size) == 0;
    }
    frame_reader_close(&reader);
    return ret < 0 ? ret : count;
}

static int frames_are_whole(MediaError *error)
{
    int same;
    return read_frames(&same, error) >= 0;
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

/* Records with valid checksums that cannot be unpacked. */
static void test_crafted_frames(void)
{
    static const struct {
        uint32_t first;       /* size that the record claims to unpack to */
        size_t plain, behind; /* bytes that the stream unpacks to; bytes after the stream */
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
        MediaError error = {0};
        RecordWriter writer = {0};
        CHECK(compress(packed, &length, plain, records[i].plain) == Z_OK, "the record is too long");
        CHECK(record_writer_open(&writer, &of_plan, RECORDS_CURVES, PART, &error) == 0 &&
                  record_writer_add(&writer, &head, packed, length + records[i].behind, &error) ==
                      0 &&
                  record_writer_commit(&writer, NULL, 0, &error) == 0,
              "%s", error.text);
        of_part[PART].curves = writer.end.index;
        record_writer_close(&writer);
        CHECK(!frames_are_whole(&error) && error.fault == MEDIA_INPUT, "record %zu is accepted", i);
    }
    free(plain);
}

/* ---- packets ---- */

static void test_packets(void)
{
    static const uint8_t extradata[] = {1, 2, 3};
    CheckRandom random = check_random(4);
    AVPacket *packet = av_packet_alloc();
    RecordWriter writer = {0};
    RecordFile part;
    MediaError error = {0};
    CHECK(record_writer_open(&writer, &of_plan, RECORDS_PACKETS, PART, &error) == 0, "%s",
          error.text);
    for (int i = 0; i < PACKETS; i++) {
        CHECK(av_new_packet(packet, i) == 0, "no memory");
        memset(packet->data, i, (size_t)i);
        packet->pts = 7 * i;
        packet->dts = i ? 7 * i - 20 : AV_NOPTS_VALUE;
        packet->duration = 7;
        packet->flags = i % 5 ? 0 : AV_PKT_FLAG_KEY;
        if (i % 9 == 0)
            *av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 1) = (uint8_t)i;
        CHECK(packet_write(&writer, packet, &error) == 0, "%s", error.text);
        av_packet_unref(packet);
    }
    CHECK(packets_commit(&writer, extradata, sizeof(extradata), &error) == 0, "%s", error.text);
    record_writer_close(&writer);

    CHECK(record_file_open(&part, &of_plan, RECORDS_PACKETS, PART, &error) == 0, "%s", error.text);
    CHECK(part.count == PACKETS && part.last_size == 3 && !memcmp(part.last, extradata, 3),
          "the extradata differs");
    for (int n = 0; n < 50; n++) {
        const int i = check_below(&random, PACKETS);
        CHECK(packet_read(&part, i, packet, &error) == 0, "%s", error.text);
        size_t size = 0;
        const uint8_t *side = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size);
        CHECK(packet->size == i && (!i || packet->data[i - 1] == (uint8_t)i) &&
                  packet->pts == 7 * i && packet->dts == (i ? 7 * i - 20 : AV_NOPTS_VALUE) &&
                  !(packet->flags & AV_PKT_FLAG_KEY) == (i % 5 != 0) &&
                  (i % 9 ? !side : side && size == 1 && *side == (uint8_t)i),
              "packet %d differs", i);
        av_packet_unref(packet);
    }
    record_file_close(&part);
    av_packet_free(&packet);
}

static int packets_are_whole(MediaError *error)
{
    RecordFile part;
    AVPacket *packet = av_packet_alloc();
    int ret = record_file_open(&part, &of_plan, RECORDS_PACKETS, PART, error);
    for (int64_t i = 0; ret >= 0 && i < part.count; i++) {
        ret = packet_read(&part, i, packet, error);
        av_packet_unref(packet);
    }
    record_file_close(&part);
    av_packet_free(&packet);
    return ret >= 0;
}

/* Commits two packets: the first has these flags, the second this pts. Returns 1 on success. */
static int commits(int flags, int64_t second)
{
    AVPacket *packet = av_packet_alloc();
    RecordWriter writer = {0};
    MediaError error = {0};
    CHECK(record_writer_open(&writer, &of_plan, RECORDS_PACKETS, 2, &error) == 0, "%s", error.text);
    for (int i = 0; i < 2; i++) {
        packet->pts = i ? second : 10;
        packet->flags = i ? 0 : flags;
        CHECK(packet_write(&writer, packet, &error) == 0, "%s", error.text);
    }
    const int ret = packets_commit(&writer, (const uint8_t *)"x", 1, &error);
    CHECK(ret >= 0 || (ret == MEDIA_USAGE && strstr(error.text, "part 2")), "%s", error.text);
    record_writer_close(&writer);
    av_packet_free(&packet);
    return ret >= 0;
}

static void test_groups_are_closed(void)
{
    CHECK(commits(AV_PKT_FLAG_KEY, 11), "a closed group was refused");
    CHECK(!commits(0, 11), "a part began without a key frame");
    CHECK(!commits(AV_PKT_FLAG_KEY, 9), "a part began with an open group");
}

/* ---- damage ---- */

/* Checks that changed bytes and truncation are noticed. */
static void damage(RecordKind kind, int (*is_whole)(MediaError *error))
{
    CheckRandom random = check_random(2);
    const JobPath path = job_part_path(folder, record_names[kind], PART, "");
    struct stat about;
    FILE *file = fopen(path.text, "r+b");
    MediaError error = {0};
    CHECK(file && fstat(fileno(file), &about) == 0 && is_whole(&error), "%s", error.text);
    for (int i = 0; file && i < 400; i++) {
        const long at = check_below(&random, (int)about.st_size);
        error = (MediaError){0};
        fseek(file, at, SEEK_SET);
        const int was = getc(file);
        fseek(file, at, SEEK_SET);
        putc((was + 1 + check_below(&random, 255)) & 0xff, file);
        fflush(file);
        CHECK(!is_whole(&error) && error.text[0], "a change of byte %ld is accepted", at);
        fseek(file, at, SEEK_SET);
        putc(was, file);
        fflush(file);
    }
    for (off_t left = about.st_size - 1; left >= 0; left -= 977) {
        error = (MediaError){0};
        CHECK(truncate(path.text, left) == 0 && !is_whole(&error) && error.text[0],
              "a file cut to %ld bytes is accepted", (long)left);
    }
    fclose(file);
}

static void test_damaged_files(void)
{
    test_frames();
    damage(RECORDS_CURVES, frames_are_whole);
    test_packets();
    damage(RECORDS_PACKETS, packets_are_whole);
}

/* ---- the plan ---- */

static void make_plan(JobPlan *plan)
{
    *plan = (JobPlan){.folder = strdup(folder),
                      .ready = 1,
                      .program = strdup("lumeq 1"),
                      .input = strdup("/a %41\nb\x01\xff.mkv"),
                      .output = strdup(output),
                      .input_size = 12,
                      .input_ns = -34,
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
                                             .curves = 0x80000000};
}

static size_t read_plan(char text[4096])
{
    FILE *file = fopen(job_path(folder, "plan").text, "rb");
    const size_t size = fread(text, 1, 4095, file);
    fclose(file);
    text[size] = '\0';
    return size;
}

static void write_plan(const char *text, size_t size)
{
    FILE *file = fopen(job_path(folder, "plan").text, "wb");
    fwrite(text, 1, size, file);
    fclose(file);
}

/* Reading a plan and writing it again gives the same text. */
static void test_plan(void)
{
    const JobPath path = job_path(folder, "plan");
    char text[4096], once_more[4096];
    JobPlan plan, again = {0};
    MediaError error = {0};
    make_plan(&plan);
    CHECK(job_plan_write(&plan, &error) == 0, "%s", error.text);
    read_plan(text);
    CHECK(job_plan_read(&again, path.text, "lumeq 1", &error) == 0, "%s", error.text);
    CHECK(again.mark == plan.mark && !strcmp(again.input, plan.input) && !again.rows &&
              again.part_count == 3 && again.parts[2].curves == 0x80000000 &&
              again.arguments.count == 2 && !strcmp(again.arguments.all[1], "--gamma=2"),
          "the plan differs");
    CHECK(job_plan_write(&again, &error) == 0, "%s", error.text);
    read_plan(once_more);
    CHECK(!strcmp(text, once_more), "the text differs: %s", once_more);
    job_plan_free(&again);
    CHECK(job_plan_read(&again, path.text, "lumeq 2", &error) == MEDIA_INPUT,
          "the plan of another version is accepted");
    job_plan_free(&again);
    job_plan_free(&plan);
}

static void test_damaged_plans(void)
{
    CheckRandom random = check_random(3);
    const JobPath path = job_path(folder, "plan");
    char text[4096];
    const size_t size = read_plan(text);
    for (int i = 0; i < 500; i++) {
        const size_t at = (size_t)check_below(&random, (int)size);
        const int cut = check_below(&random, 4) == 0;
        const char was = text[at];
        JobPlan plan = {0};
        MediaError error = {0};
        text[at] = (char)(was + 1 + check_below(&random, 255));
        write_plan(text, cut ? at : size);
        CHECK(job_plan_read(&plan, path.text, "lumeq 1", &error) == MEDIA_INPUT && error.text[0],
              "a change of byte %zu is accepted", at);
        job_plan_free(&plan);
        text[at] = was;
    }
}

static const CheckTest tests[] = {
    {"frames", test_frames},
    {"crafted_frames", test_crafted_frames},
    {"packets", test_packets},
    {"groups_are_closed", test_groups_are_closed},
    {"damaged_files", test_damaged_files},
    {"plan", test_plan},
    {"damaged_plans", test_damaged_plans},
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
    job_folder_clear(folder);
    (void)rmdir(parent);
    return ret;
}
