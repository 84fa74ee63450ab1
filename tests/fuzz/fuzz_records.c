/* Files of parts: measures, curves and encoded video. An input is such a file, whose checksums the
 * target corrects, so that any content gets past them. */
#include "fuzz.h"
#include "job/frame_file.h"
#include "job/part_file.h"
#include "media/checksum.h"

#define LAST_LINE 13    /* bytes: "end 01234567\n" */
#define MOST_RECORDS 64 /* that are corrected */
#define MARK 7          /* of the plan, in the texts of measures and parts */

int fuzz_valid;

static char folder[300];
static const char *const kinds[] = {"measured", "curves", "part"};

static char *path_of(size_t kind)
{
    char *path = job_part_path(folder, kinds[kind], 0);
    FUZZ_CHECK(path, "out of memory");
    return path;
}

static void remove_folder(void)
{
    for (size_t kind = 0; kind < 3; kind++) {
        char *path = path_of(kind);
        (void)remove(path);
        free(path);
    }
    (void)rmdir(folder);
}

/* The file after its checksums are corrected. Returns the checksum of the index. */
static uint32_t write_file(const char *path, const uint8_t *bytes, size_t size)
{
    char *file = malloc(size + 64), *text;
    uint32_t length = 0, index = 0;
    int64_t count = 0;
    FUZZ_CHECK(file, "out of memory");
    memcpy(file, bytes, size);
    if (size > sizeof(length))
        memcpy(&length, bytes + size - sizeof(length), sizeof(length));
    if (length < LAST_LINE || length > size - sizeof(length)) {
        fuzz_write(path, bytes, size);
        free(file);
        return 0;
    }
    size_t at = size - sizeof(length) - length;
    text = strndup((const char *)bytes + at, length - LAST_LINE);
    FUZZ_CHECK(text, "out of memory");
    const char *records = strstr(text, "\nrecords "), *line = strstr(text, "\nindex ");
    if (records)
        count = strtoll(records + strlen("\nrecords "), NULL, 10);
    if (count >= 0 && count <= MOST_RECORDS && (size_t)count * sizeof(Record) <= at) {
        char *first = file + at - (size_t)count * sizeof(Record);
        for (int64_t i = 0; i < count; i++) {
            Record r;
            memcpy(&r, first + (size_t)i * sizeof(r), sizeof(r));
            if (r.position >= 0 && r.position <= (int64_t)at && r.size <= at - (size_t)r.position)
                r.sum = checksum(0, bytes + r.position, r.size);
            memcpy(first + (size_t)i * sizeof(r), &r, sizeof(r));
        }
        index = checksum(0, first, (size_t)count * sizeof(Record));
    }
    const size_t begin = at;
    if (line)
        at += (size_t)sprintf(file + at, "%.*s\nindex %u%s", (int)(line - text), text, index,
                              line + 1 + strcspn(line + 1, "\n"));
    else
        at += (size_t)sprintf(file + at, "%s", text);
    at += (size_t)sprintf(file + at, "end %08x\n", checksum(0, file + begin, at - begin));
    length = (uint32_t)(at - begin);
    memcpy(file + at, &length, sizeof(length));
    fuzz_write(path, file, at + sizeof(length));
    free(text);
    free(file);
    return index;
}

static void read_measures(const JobPlan *plan)
{
    FilmMeasures film = {.plan = plan, .parts = 1, .frames = MOST_RECORDS};
    MediaError error = {0};
    MeasuredFrame frame;
    int ret, count = 0;
    while ((ret = film_measures_next(&film, &frame, &error)) > 0)
        count++;
    FUZZ_CHECK(ret == 0 || error.text[0], "%d without a reason", ret);
    fuzz_valid += count > 0;
    film_measures_close(&film);
}

static void read_curves(const JobPlan *plan)
{
    FrameReader reader = {0};
    MediaError error = {0};
    MeasuredFrame frame;
    LumeqCurve *curve = NULL;
    int ret = part_curves_open(&reader, plan, 0, &error), count = 0;
    while (ret >= 0 && (ret = part_curves_next(&reader, &frame, &curve, &error)) > 0)
        count++;
    FUZZ_CHECK(ret == 0 || error.text[0], "%d without a reason", ret);
    fuzz_valid += count > 0;
    lumeq_curve_unref(&curve);
    frame_reader_close(&reader);
}

static void read_part(void)
{
    PartFile part = {0};
    MediaError error = {0};
    AVPacket *packet = av_packet_alloc();
    FUZZ_CHECK(packet, "out of memory");
    int ret = part_file_open(&part, path_of(2), &error);
    int count = 0;
    for (int64_t i = 0; ret >= 0 && i < part.count; i++) {
        ret = part_file_read(&part, i, packet, &error);
        count += ret >= 0;
        av_packet_unref(packet);
    }
    fuzz_valid += count > 0;
    FUZZ_CHECK(ret >= 0 || error.text[0], "%d without a reason", ret);
    av_packet_free(&packet);
    part_file_close(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "%s", fuzz_folder());
        FUZZ_CHECK(atexit(remove_folder) == 0, "atexit");
    }
    /* The title tells the kind; a file of another kind must also be refused. */
    const size_t kind = memmem(bytes, size, "lumeq-measures", 14) ? 0
                        : memmem(bytes, size, "lumeq-curves", 12) ? 1
                                                                  : 2;
    char *path = path_of(kind);
    JobPart part = {.curves = write_file(path, bytes, size)};
    const JobPlan plan = {.folder = folder, .mark = MARK, .parts = &part, .part_count = 1};
    if (kind == 0)
        read_measures(&plan);
    else if (kind == 1)
        read_curves(&plan);
    else
        read_part();
    free(path);
    return 0;
}
