/* Writes valid inputs for the targets whose formats have versions. Usage: make_seeds FOLDER. */
#include "equalizer/layouts.h"
#include "fuzz.h"
#include "job/part_files.h"
#include "new_frame.h"

#define CHECKSUM 4   /* bytes at the end of a packed object */
#define LAST_LINE 13 /* bytes of a plan's last line, the checksum */
#define MOST 1000000 /* bytes of a seed */
#define MARK 7       /* JobPlan.mark, as in fuzz_records.c */

int fuzz_valid;

static const char *root;

static void write_seed(const char *target, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s/%s", root, target, name);
    fuzz_write(path, bytes, size);
}

/* ---- measures and curves ---- */

/* Writes a byte of flags, then a packed object without checksum. bytes[-1] must be writable. */
static void write_state(const char *name, int flags, uint8_t *bytes, size_t size)
{
    bytes[-1] = (uint8_t)flags;
    write_seed("states", name, bytes - 1, size + 1 - CHECKSUM);
}

/* A dark frame with noise and black bars. */
static LumeqImage draw(int depth, int frame)
{
    LumeqImage image = {.width = 32, .height = 24, .depth = depth};
    layout_alloc(&image, LAYOUT_GRAY);
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++) {
            const int noise = (int)(check_hash((uint64_t)frame, (uint64_t)(x + 100 * y)) % 3);
            const int code = y < 4 || y >= 20 ? 16 : 20 + x + frame + noise;
            layout_put(&image, 0, x, y, code << (depth - 8));
        }
    return image;
}

/* Writes the last measure and the last curve of a clip. `flags` are those of fuzz_states.c. */
static void write_states(LumeqContext *context, const char *kind, int flags, int frames)
{
    static uint8_t room[1 + MOST], *const bytes = room + 1;
    char name[64];
    size_t size = MOST;
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    if (flags & 2) {
        params.mode = LUMEQ_MODE_CLAHE;
        params.tiles_x = params.tiles_y = 2;
    }
    params.reference = (flags & 8) != 0;
    LumeqHistory *history = NULL;
    LumeqMeasure *measure = NULL;
    LumeqCurve *curve = NULL;
    FUZZ_CHECK(lumeq_history_create(&history, &params, flags & 1 ? 100000000 : 0) == 0, "history");
    for (int i = 0; i < frames; i++) {
        LumeqImage before = draw(8, i - 1), in = draw(8, i);
        const LumeqMoment moment = {.number = i, .time = i * INT64_C(40000000)};
        FUZZ_CHECK(lumeq_measure(context, &measure, &params, &in, &before, NULL) == 0 &&
                       lumeq_history_put(history, measure, &moment) == 0,
                   "%s", lumeq_last_error(NULL));
        int ret = 0;
        for (LumeqCurve *next; (ret = lumeq_history_get(history, &next)) == 0; curve = next)
            lumeq_curve_unref(&curve);
        FUZZ_CHECK(ret == LUMEQ_ERR_AGAIN, "%s", lumeq_last_error(NULL));
        layout_free(&in);
        layout_free(&before);
    }
    FUZZ_CHECK(lumeq_measure_pack(measure, bytes, &size) == 0, "measure");
    snprintf(name, sizeof(name), "measure-%s", kind);
    write_state(name, flags, bytes, size);
    size = MOST;
    FUZZ_CHECK(lumeq_curve_pack(curve, bytes, &size) == 0, "curve");
    snprintf(name, sizeof(name), "curve-%s", kind);
    write_state(name, flags, bytes, size);
    lumeq_curve_unref(&curve);
    lumeq_measure_free(&measure);
    lumeq_history_destroy(&history);
}

/* ---- jobs ---- */

static uint8_t file_bytes[MOST];

static size_t read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file, "cannot read %s", path);
    const size_t size = fread(file_bytes, 1, MOST, file);
    fclose(file);
    (void)remove(path);
    return size;
}

static void write_plan(void)
{
    MediaError error = {0};
    JobPlan plan = {.folder = strdup(folder),
                    .ready = 1,
                    .program = strdup("lumeq"),
                    .input = strdup("/a%b.mkv"),
                    .output = strdup("out"),
                    .rows = strdup("rows.csv"),
                    .encoder_threads = 3,
                    .decoder_threads = 5,
                    .codes = {7600, 8365},
                    .zero = -5,
                    .time_base = {1, 90000},
                    .frames = 30,
                    .film_end = INT64_MIN,
                    .damage = strdup("damaged"),
                    .wanted_parts = 4};
    FUZZ_CHECK(text_list_add(&plan.arguments, "--vopt=a=b c") == 0, "out of memory");
    for (int i = 0; i < 3; i++) {
        JobPart *part = job_plan_add_part(&plan);
        FUZZ_CHECK(part, "out of memory");
        *part = (JobPart){.first = 10 * i,
                          .frames = 10,
                          .begin_pts = i ? 10 * i : INT64_MIN,
                          .end_pts = i < 2 ? 10 * i + 10 : INT64_MAX,
                          .seek_us = i - 1};
    }
    FUZZ_CHECK(job_plan_write(&plan, &error) == 0, "%s", error.text);
    job_plan_free(&plan);
    const size_t size = read_file(in_folder("plan"));
    write_seed("plan", "plan", file_bytes, size - LAST_LINE);
}

/* Writes a file of two measures or two curves. */
static void write_frames(LumeqContext *context, int is_measures)
{
    const JobPlan plan = {.folder = folder, .mark = MARK};
    const RecordKind kind = is_measures ? RECORDS_MEASURES : RECORDS_CURVES;
    const PartMeasures measures = {.damage.damage.first = "damaged"};
    MediaError error = {0};
    FrameWriter writer = {0};
    LumeqMeasure *measure = NULL;
    LumeqHistory *history = NULL;
    const JobPath path = job_part_path(folder, record_names[kind], 0, "");
    FUZZ_CHECK(record_writer_open(&writer.out, &plan, kind, 0, &error) == 0 &&
                   lumeq_history_create(&history, NULL, 0) == 0,
               "%s", error.text);
    for (int i = 0; i < 2; i++) {
        const MeasuredFrame frame = {.pts = i, .duration = 1, .width = 32, .height = 24};
        const LumeqMoment moment = {.number = i};
        LumeqCurve *curve = NULL;
        LumeqImage in = draw(8, i);
        FUZZ_CHECK(lumeq_measure(context, &measure, NULL, &in, NULL, NULL) == 0 &&
                       lumeq_history_put(history, measure, &moment) == 0 &&
                       lumeq_history_get(history, &curve) == 0,
                   "%s", lumeq_last_error(NULL));
        const int ret = is_measures ? frame_writer_add_measure(&writer, &frame, measure, &error)
                                    : frame_writer_add_curve(&writer, &frame, curve, 1, &error);
        FUZZ_CHECK(ret == 0, "%s", error.text);
        lumeq_curve_unref(&curve);
        layout_free(&in);
    }
    FUZZ_CHECK(record_writer_commit(&writer.out, &measures, is_measures ? sizeof(measures) : 0,
                                    &error) == 0,
               "%s", error.text);
    frame_writer_close(&writer);
    lumeq_measure_free(&measure);
    lumeq_history_destroy(&history);
    const size_t size = read_file(path.text);
    write_seed("records", is_measures ? "measures" : "curves", file_bytes, size);
}

static void write_part(void)
{
    const JobPlan plan = {.folder = folder, .mark = MARK};
    MediaError error = {0};
    RecordWriter writer = {0};
    AVPacket *packet = av_packet_alloc();
    const JobPath path = job_part_path(folder, "part", 0, "");
    FUZZ_CHECK(packet && record_writer_open(&writer, &plan, RECORDS_PACKETS, 0, &error) == 0, "%s",
               error.text);
    for (int i = 0; i < 3; i++) {
        FUZZ_CHECK(av_new_packet(packet, 20) == 0, "out of memory");
        memset(packet->data, i, 20);
        packet->pts = packet->dts = i;
        packet->flags = i ? 0 : AV_PKT_FLAG_KEY;
        uint8_t *side = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10);
        FUZZ_CHECK(side, "out of memory");
        memset(side, 0, 10);
        FUZZ_CHECK(packet_write(&writer, packet, &error) == 0, "%s", error.text);
        av_packet_unref(packet);
    }
    FUZZ_CHECK(packets_commit(&writer, (const uint8_t *)"abc", 3, &error) == 0, "%s", error.text);
    record_writer_close(&writer);
    av_packet_free(&packet);
    const size_t size = read_file(path.text);
    write_seed("records", "part", file_bytes, size);
}

int main(int argc, char **argv)
{
    static const char *const targets[] = {"states", "plan", "records"};
    char path[4096];
    LumeqContext *context = NULL;
    FUZZ_CHECK(argc == 2, "usage: make_seeds FOLDER");
    root = argv[1];
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", root, targets[i]);
        (void)mkdir(path, 0777);
    }
    FUZZ_CHECK(
        lumeq_context_create(&context, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU}, NULL, 0) == 0,
        "%s", lumeq_last_error(NULL));
    write_states(context, "global", 0, 2);
    write_states(context, "ahead", 1, 6);
    write_states(context, "clahe", 2, 2);
    write_states(context, "clahe-ahead", 3, 4);
    write_states(context, "reference", 8, 2);
    (void)in_folder(""); /* creates `folder` */
    write_plan();
    write_frames(context, 1);
    write_frames(context, 0);
    write_part();
    lumeq_context_destroy(&context);
    return 0;
}
