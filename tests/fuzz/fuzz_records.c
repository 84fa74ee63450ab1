/* Files of parts: measures, curves and encoded video. An input is such a file. The target corrects
 * the checksums, so that wrong checksums do not stop the fuzzer. */
#include <stddef.h>

#include "fuzz.h"
#include "job/part_files.h"
#include "media/checksum.h"

#define MOST_RECORDS 64 /* files with more keep wrong checksums */
#define MARK 7          /* JobPlan.mark, as in make_seeds.c */

int fuzz_valid;

/* Corrects a file's checksums. Returns its RecordEnd. */
static RecordEnd correct(uint8_t *bytes, size_t size)
{
    RecordEnd end = {.kind = RECORDS_PACKETS};
    Record records[MOST_RECORDS];
    if (size < sizeof(end))
        return end;
    uint8_t *const at = bytes + size - sizeof(end);
    memcpy(&end, at, sizeof(end));
    const size_t index = (size_t)end.count * sizeof(*records);
    if (end.count > 0 && end.count <= MOST_RECORDS && index <= size - sizeof(end)) {
        const size_t begin = size - sizeof(end) - index;
        size_t position = 0;
        memcpy(records, bytes + begin, index);
        for (int64_t i = 0; i < end.count && records[i].size <= begin - position; i++) {
            records[i].sum = checksum(0, bytes + position, records[i].size);
            position += records[i].size;
        }
        memcpy(bytes + begin, records, index);
        end.index = checksum(0, records, index);
    }
    end.sum = checksum(0, &end, offsetof(RecordEnd, sum));
    memcpy(at, &end, sizeof(end));
    return end;
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
    int ret = record_file_open(&reader.file, plan, RECORDS_CURVES, 0, &error), count = 0;
    while (ret >= 0 && (ret = part_curves_next(&reader, &frame, &curve, &error)) > 0)
        count++;
    FUZZ_CHECK(ret == 0 || error.text[0], "%d without a reason", ret);
    fuzz_valid += count > 0;
    lumeq_curve_unref(&curve);
    frame_reader_close(&reader);
}

static void read_part(const JobPlan *plan)
{
    RecordFile part;
    MediaError error = {0};
    AVPacket *packet = av_packet_alloc();
    FUZZ_CHECK(packet, "out of memory");
    int ret = record_file_open(&part, plan, RECORDS_PACKETS, 0, &error);
    int count = 0;
    for (int64_t i = 0; ret >= 0 && i < part.count; i++) {
        ret = packet_read(&part, i, packet, &error);
        count += ret >= 0;
        av_packet_unref(packet);
    }
    fuzz_valid += count > 0;
    FUZZ_CHECK(ret >= 0 || error.text[0], "%d without a reason", ret);
    av_packet_free(&packet);
    record_file_close(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    (void)in_folder(""); /* creates `folder` */
    uint8_t *file = malloc(size + 1);
    FUZZ_CHECK(file, "out of memory");
    memcpy(file, bytes, size);
    const RecordEnd end = correct(file, size);
    const RecordKind kind = end.kind < RECORD_KINDS ? (RecordKind)end.kind : RECORDS_PACKETS;
    fuzz_write(job_part_path(folder, record_names[kind], 0, "").text, file, size);
    JobPart part = {.curves = end.index};
    const JobPlan plan = {.folder = folder, .mark = MARK, .parts = &part, .part_count = 1};
    if (kind == RECORDS_MEASURES)
        read_measures(&plan);
    else if (kind == RECORDS_CURVES)
        read_curves(&plan);
    else
        read_part(&plan);
    free(file);
    return 0;
}
