/* The files of a job: what was written comes back, and what is not whole is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "check.h"
#include "job/film_parts.h"
#include "job/frame_block.h"
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

/* ---- blocks ---- */

typedef struct Known {
    MeasuredFrame frame;
    size_t size;
    uint8_t bytes[MOST_BYTES];
} Known;

/* Like curves: words by turns, that differ a little from those of the frame before; sizes that
 * change, and nothing at all. */
static void make_known(Known *known, const Known *before, CheckRandom *random, int i)
{
    static const size_t sizes[] = {2056, 2056, 4099, 0, 3};
    *known = (Known){.size = sizes[i % 16 < 12 ? 0 : i % 5]};
    known->frame = (MeasuredFrame){
        .pts = i * 40 + check_below(random, 3) - 1000,
        .duration = 40,
        .width = 1920,
        .height = i == 9 ? 1088 : 1080,
        .format = 0,
        .range = i % 7 == 0,
        .damaged = i == 5,
        .interlaced = i > 20,
        .mark = (uint32_t)check_below(random, INT32_MAX) * 2u,
    };
    for (size_t k = 0; k < known->size; k++) {
        const int noise = check_below(random, 64);
        known->bytes[k] = (uint8_t)(before && noise ? before->bytes[k] : noise * i);
    }
}

static Known known[FRAMES];

static void add_known(BlockWriter *writer, int i)
{
    MediaError error = {0};
    void *bytes = block_writer_reserve(writer, known[i].size);
    if (!CHECK(bytes, "out of memory"))
        return;
    memcpy(bytes, known[i].bytes, known[i].size);
    CHECK(block_writer_add(writer, &known[i].frame, &error) == 0, "%s", error.text);
}

/* The size of a block of these frames. */
static int64_t write_block(const char *path, int from, int to, uint32_t *sum)
{
    AtomicFile file;
    KeyText text = {0};
    MediaError error = {0};
    CHECK(sealed_file_create(&file, path, &error) == 0, "%s", error.text);
    BlockWriter writer = {.file = &file};
    for (int i = from; i < to; i++)
        add_known(&writer, i);
    *sum = writer.sum;
    const int64_t size = file.written - SEALED_FILE_HEAD;
    CHECK(sealed_file_commit(&file, &text, &error) == 0, "%s", error.text);
    block_writer_close(&writer);
    return size;
}

/* A file whose block is any bytes. */
static void put_block(const char *path, const void *bytes, size_t size)
{
    AtomicFile file;
    KeyText text = {0};
    MediaError error = {0};
    CHECK(sealed_file_create(&file, path, &error) == 0 &&
              atomic_file_write(&file, bytes, size, &error) == 0 &&
              sealed_file_commit(&file, &text, &error) == 0,
          "%s", error.text);
}

/* Reads a block whole, and compares it with the known frames from `first` on: how many there were,
 * or a fault. *same becomes 0 at a frame that differs. */
static int read_block(const char *path, int64_t position, int64_t size, uint32_t sum, int first,
                      int *same, MediaError *error)
{
    SealedFile file;
    BlockReader reader = {0};
    MeasuredFrame frame;
    const void *bytes;
    size_t length;
    int count = 0;
    *same = 1;
    int ret = sealed_file_open(&file, strdup(path), error);
    if (ret >= 0)
        ret = block_reader_open(&reader, &file, position, size, sum, error);
    while (ret >= 0 && (ret = block_reader_next(&reader, &frame, &bytes, &length, error)) > 0) {
        const Known *k = &known[(first + count) % FRAMES];
        *same &= measured_is_same(&frame, &k->frame) && frame.damaged == k->frame.damaged &&
                 frame.mark == k->frame.mark && length == k->size &&
                 memcmp(bytes, k->bytes, length) == 0;
        count++;
    }
    block_reader_close(&reader);
    sealed_file_close(&file);
    return ret < 0 ? ret : count;
}

static void test_blocks(void)
{
    CheckRandom random = check_random(1);
    char *path = in_folder("block");
    MediaError error = {0};
    uint32_t sum;
    int same;
    for (int k = 0; k < FRAMES; k++)
        make_known(&known[k], k ? &known[k - 1] : NULL, &random, k);
    const int64_t length = write_block(path, 0, FRAMES, &sum);
    CHECK(read_block(path, SEALED_FILE_HEAD, length, sum, 0, &same, &error) == FRAMES && same, "%s",
          error.text);
    free(path);
}

/* Damage is found by the checksum. If the checksum is made right again, reading stays in bounds. */
static void test_damaged_blocks(void)
{
    CheckRandom random = check_random(2);
    char *path = in_folder("block");
    uint32_t sum;
    const int64_t length = write_block(path, 0, FRAMES, &sum);
    uint8_t *whole = malloc((size_t)length);
    FILE *file = fopen(path, "rb");
    CHECK(fseek(file, SEALED_FILE_HEAD, SEEK_SET) == 0 &&
              fread(whole, 1, (size_t)length, file) == (size_t)length,
          "it cannot be read");
    fclose(file);
    for (int i = 0; i < 300; i++) {
        const int at = check_below(&random, (int)length), cut = check_below(&random, 3) == 0;
        const int64_t left = cut ? at : length;
        const uint8_t was = whole[at];
        MediaError error = {0};
        int same;
        whole[at] = (uint8_t)(was + 1 + check_below(&random, 255));
        put_block(path, whole, (size_t)left);
        CHECK(read_block(path, SEALED_FILE_HEAD, length, sum, 0, &same, &error) < 0 &&
                  error.text[0],
              "byte %d may be another one", at);
        error = (MediaError){0};
        const int count = read_block(path, SEALED_FILE_HEAD, left, checksum(0, whole, (size_t)left),
                                     0, &same, &error);
        CHECK(count >= 0 ? count <= FRAMES : count == MEDIA_INPUT && error.text[0],
              "byte %d makes other frames", at);
        whole[at] = was;
    }
    free(whole);
    free(path);
}

/* Blocks whose checksum and zlib streams are right, but which hold no records. */
static void test_crafted_blocks(void)
{
    static const struct {
        uint32_t size, packed; /* as the record says; packed 0: as it is */
        size_t follow, behind; /* bytes in the stream and after it */
    } blocks[] = {
        {UINT32_MAX, 0, 48, 0},
        {UINT32_MAX, 0, 1 << 20, 0},
        {(4 << 20) + 1, 0, 5 << 20, 0},
        {4 << 20, 0, 1000, 0},
        {8, 0, 51, 0},
        {8, 0, 53, 0},
        {8, 0, 52, 1},
        {8, 1 << 20, 52, 0},
        {8, UINT32_MAX, 52, 0},
        {8, 1, 52, 0},
    };
    char *path = in_folder("block");
    uint8_t *const plain = calloc(1, 5 << 20), packed[1 << 14] = {0};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        uLongf length = sizeof(packed) - 9;
        MediaError error = {0};
        int same;
        CHECK(compress(packed + 8, &length, plain, blocks[i].follow) == Z_OK, "it is too long");
        const uint32_t says = blocks[i].packed ? blocks[i].packed : (uint32_t)length;
        memcpy(packed, &blocks[i].size, 4);
        memcpy(packed + 4, &says, 4);
        length += 8 + blocks[i].behind;
        put_block(path, packed, length);
        CHECK(read_block(path, SEALED_FILE_HEAD, (int64_t)length, checksum(0, packed, length), 0,
                         &same, &error) == MEDIA_INPUT &&
                  strstr(error.text, "does not hold"),
              "block %zu is taken: %s", i, error.text);
    }
    free(plain);
    free(path);
}

/* A block is read without the one before it, and up to its own end. */
static void test_blocks_of_one_file(void)
{
    char *path = in_folder("block");
    AtomicFile file;
    KeyText text = {0};
    MediaError error = {0};
    int64_t ends[3];
    uint32_t sums[3];
    int same;
    CHECK(sealed_file_create(&file, path, &error) == 0, "%s", error.text);
    for (int i = 0; i < 3; i++) {
        BlockWriter writer = {.file = &file};
        for (int k = 2 * i; k < 2 * i + 2; k++)
            add_known(&writer, k);
        sums[i] = writer.sum;
        block_writer_close(&writer);
        ends[i] = file.written;
    }
    CHECK(sealed_file_commit(&file, &text, &error) == 0, "%s", error.text);
    CHECK(read_block(path, ends[0], ends[1] - ends[0], sums[1], 2, &same, &error) == 2 && same,
          "%s", error.text);
    free(path);
}

/* With times that overflow as soon as somebody adds to them. */
static void test_blocks_out_of_range(void)
{
    static const MeasuredFrame frames[] = {{.pts = INT64_MAX},
                                           {.pts = INT64_MIN},
                                           {.duration = INT64_MAX},
                                           {.pts = INT64_C(1) << 62},
                                           {.duration = -(INT64_C(1) << 62)}};
    char *path = in_folder("block");
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        MediaError error = {0};
        uint32_t sum;
        int same;
        known[0] = (Known){.frame = frames[i]};
        const int64_t length = write_block(path, 0, 1, &sum);
        CHECK(read_block(path, SEALED_FILE_HEAD, length, sum, 0, &same, &error) == MEDIA_INPUT,
              "frame %zu is taken", i);
    }
    free(path);
}

/* ---- the plan ---- */

static void make_plan(JobPlan *plan)
{
    *plan = (JobPlan){.folder = strdup(folder),
                      .ready = 1,
                      .program = strdup("lumeq 1"),
                      .input = strdup("/a %41\nb\x01\xff.mkv"),
                      .output = strdup(output),
                      .before = {1, 2, INT64_MAX},
                      .identity = {12, -34, 0xfedcba98, 1},
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
                                             .position = INT64_C(1) << 40,
                                             .size = 5,
                                             .sum = 0x80000000};
}

static void check_plan(const JobPlan *a, const JobPlan *b)
{
    CHECK(!strcmp(a->input, b->input) && !strcmp(a->output, b->output) && !b->rows &&
              job_file_is_same(&a->before, &b->before),
          "another file");
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
                  p->before[1] == q->before[1] && p->position == q->position &&
                  p->size == q->size && p->sum == q->sum,
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
        {"1099511627776 5", "-1 5"},
        {"1099511627776 5", "1099511627776 -5"},
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
    PartWriter *writer;
    PartFile part;
    MediaError error = {0};
    CHECK(part_writer_open(&writer, path, &error) == 0, "%s", error.text);
    for (int i = 0; i < 300; i++) {
        CHECK(av_new_packet(packet, i) == 0, "no memory");
        memset(packet->data, i, (size_t)i);
        packet->pts = 7 * i;
        packet->dts = i ? 7 * i - 20 : AV_NOPTS_VALUE;
        packet->duration = 7;
        packet->flags = i % 5 ? 0 : AV_PKT_FLAG_KEY;
        if (i % 9 == 0)
            *av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 1) = (uint8_t)i;
        CHECK(part_writer_add(writer, packet, &error) == 0, "%s", error.text);
        av_packet_unref(packet);
    }
    CHECK(part_writer_commit(writer, &label, extradata, sizeof(extradata), &error) == 0, "%s",
          error.text);
    part_writer_close(&writer);

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

/* Of two packets, of which the first has these flags and the second one is shown at `second`. */
static int commits(int flags, int64_t second)
{
    const PartLabel label = {.part = 3};
    char *path = in_folder("open");
    AVPacket *packet = av_packet_alloc();
    PartWriter *writer;
    MediaError error = {0};
    CHECK(part_writer_open(&writer, path, &error) == 0, "%s", error.text);
    for (int i = 0; i < 2; i++) {
        packet->pts = i ? second : 10;
        packet->flags = i ? 0 : flags;
        CHECK(part_writer_add(writer, packet, &error) == 0, "%s", error.text);
    }
    const int ret = part_writer_commit(writer, &label, (const uint8_t *)"x", 1, &error);
    CHECK(ret >= 0 || (ret == MEDIA_USAGE && strstr(error.text, "part 3")), "%s", error.text);
    part_writer_close(&writer);
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
    CHECK(stat(path, &about) == 0 && reads_whole(path, packet), "there is none");
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

/* A thousand frames, one of them damaged: every cut is behind the one before, and none is within 96
 * frames of the damage. */
static MeasureFile *measured_film(const LumeqMeasure *measure, int frames, int damaged)
{
    MediaError error = {0};
    MeasureFile *file = NULL;
    int ret = measure_file_open(&file, NULL, &error);
    for (int i = 0; ret >= 0 && i < frames; i++) {
        const MeasuredFrame frame = {.pts = i, .damaged = i == damaged};
        ret = measure_file_add(file, &frame, measure, &error);
    }
    CHECK(ret >= 0 && measure_file_flush(file, &error) == 0, "%s", error.text);
    return file;
}

static void test_cuts(void)
{
    static uint8_t luma[64 * 64];
    const LumeqImage in = {.plane = {luma}, .stride = {64}, .width = 64, .height = 64, .depth = 8};
    MediaError error = {0};
    LumeqContext *context = NULL;
    LumeqMeasure *measure = NULL;
    FilmFrames frames = {0};
    CHECK(lumeq_context_create(&context, NULL, NULL, 0) == 0 &&
              lumeq_measure(context, &measure, NULL, &in, NULL, NULL) == 0,
          "%s", lumeq_last_error(NULL));
    MeasureFile *file = measured_film(measure, 1000, 500);
    CHECK(film_frames_read(&frames, file, &error) == 0 && film_frames_cut(&frames, 20, &error) == 0,
          "%s", error.text);
    CHECK(frames.parts == 18 && frames.first[0] == 0 && frames.first[9] == 597 &&
              frames.first[18] == 1000,
          "%d parts", frames.parts);
    for (int i = 1; i <= frames.parts; i++)
        CHECK(frames.first[i] > frames.first[i - 1] && llabs(frames.first[i] - 500) > 96,
              "part %d begins at %lld", i, (long long)frames.first[i]);
    film_frames_free(&frames);
    CHECK(film_frames_read(&frames, file, &error) == 0, "%s", error.text);
    film_frames_keep_together(&frames, quarter_of, 3, (AVRational){1, 100});
    CHECK(film_frames_cut(&frames, 20, &error) == 0, "%s", error.text);
    CHECK(frames.parts == 17 && frames.first[1] == 53 && frames.first[9] == 603, "%d parts",
          frames.parts);
    for (int i = 1; i < frames.parts; i++)
        CHECK(frames.first[i] % 25 == 3, "part %d begins at %lld", i, (long long)frames.first[i]);
    film_frames_free(&frames);
    measure_file_close(&file);
    /* Up to the end there is no room for a cut, also not for one that is wanted further on. */
    file = measured_film(measure, 1000, 950);
    CHECK(film_frames_read(&frames, file, &error) == 0 && film_frames_cut(&frames, 20, &error) == 0,
          "%s", error.text);
    CHECK(frames.parts == 18 && frames.first[17] == 850, "%d parts, the last from %lld",
          frames.parts, (long long)frames.first[frames.parts - 1]);
    film_frames_free(&frames);
    measure_file_close(&file);
    lumeq_measure_free(&measure);
    lumeq_context_destroy(&context);
}

static const CheckTest tests[] = {
    {"checksums", test_checksums},
    {"blocks", test_blocks},
    {"damaged_blocks", test_damaged_blocks},
    {"crafted_blocks", test_crafted_blocks},
    {"blocks_of_one_file", test_blocks_of_one_file},
    {"blocks_out_of_range", test_blocks_out_of_range},
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
    static const char *const names[] = {"block", "plan", "part"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = in_folder(names[i]);
        (void)remove(path);
        free(path);
    }
    (void)rmdir(folder);
    (void)rmdir(parent);
    return ret;
}
