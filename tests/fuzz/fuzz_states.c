/* Packed measures and curves. An input is a byte of flags, then a packed object without checksum.
 * The flags select the parameters. */
#include <zlib.h>

#include "equalizer/all_stats.h"
#include "equalizer/layouts.h"
#include "fuzz.h"

#define CHECKSUM 4                   /* bytes */
#define MOST_PIXELS 10000            /* to save time, curves of larger pictures are not applied */
#define LOOKAHEAD INT64_C(100000000) /* ns */

enum { FLAG_LOOKAHEAD = 1, FLAG_CLAHE = 2, FLAG_DULL = 4, FLAG_REFERENCE = 8 };

int fuzz_valid;
static LumeqContext *context;

static LumeqParams params_of(int flags)
{
    LumeqParams params = {.size = sizeof(params)};
    lumeq_params_default(&params);
    if (flags & FLAG_CLAHE) {
        params.mode = LUMEQ_MODE_CLAHE;
        params.tiles_x = params.tiles_y = 2;
    }
    if (flags & FLAG_DULL)
        params.strength = 1;
    params.reference = (flags & FLAG_REFERENCE) != 0;
    return params;
}

static LumeqHistory *make_history(int flags)
{
    const LumeqParams params = params_of(flags);
    LumeqHistory *history = NULL;
    FUZZ_CHECK(lumeq_history_create(&history, &params, flags & FLAG_LOOKAHEAD ? LOOKAHEAD : 0) == 0,
               "%s", lumeq_last_error(NULL));
    return history;
}

typedef int Pack(const void *object, void *bytes, size_t *size);

/* Packs an object. The caller frees the returned bytes. */
static uint8_t *packed(Pack *pack, const void *object, size_t *size)
{
    *size = 0;
    FUZZ_CHECK(pack(object, NULL, size) == 0, "%s", lumeq_last_error(NULL));
    uint8_t *bytes = malloc(*size);
    FUZZ_CHECK(bytes && pack(object, bytes, size) == 0, "%s", lumeq_last_error(NULL));
    return bytes;
}

static int pack_measure(const void *measure, void *bytes, size_t *size)
{
    return lumeq_measure_pack(measure, bytes, size);
}

static int pack_curve(const void *curve, void *bytes, size_t *size)
{
    return lumeq_curve_pack(curve, bytes, size);
}

/* Checks that the curve never falls, and stays the same when packed and unpacked. */
static void check_curve(const LumeqCurve *curve)
{
    static FrameStats stats;
    FUZZ_CHECK(lumeq_curve_stats(curve, ask_stats(&stats)) == 0, "%s", lumeq_last_error(NULL));
    for (int i = 1; i < stats.values.bins; i++)
        FUZZ_CHECK(stats.curve[i] >= stats.curve[i - 1], "the curve falls at %d", i);
    size_t size, size_again;
    uint8_t *bytes = packed(pack_curve, curve, &size);
    LumeqCurve *copy = NULL;
    FUZZ_CHECK(lumeq_curve_unpack(&copy, bytes, size) == 0, "%s", lumeq_last_error(NULL));
    uint8_t *again = packed(pack_curve, copy, &size_again);
    FUZZ_CHECK(size == size_again && memcmp(bytes, again, size) == 0,
               "the unpacked curve packs differently");
    lumeq_curve_unref(&copy);
    free(again);
    free(bytes);
}

/* Adds the measure `count` times and checks all curves. */
static void run_history(LumeqHistory *history, const LumeqMeasure *measure, int count)
{
    LumeqCurve *curve = NULL;
    int ret = 0;
    for (int n = 0; n <= count && ret == 0; n++) {
        const LumeqMoment moment = {.time = (n + 1) * INT64_C(40000000)};
        const int is_end = n == count || !measure;
        do {
            ret = lumeq_history_get(history, &curve);
            if (curve)
                check_curve(curve);
            lumeq_curve_unref(&curve);
        } while (ret == 0);
        FUZZ_CHECK(ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END, "%d: %s", ret,
                   lumeq_last_error(NULL));
        ret = lumeq_history_put(history, is_end ? NULL : measure, is_end ? NULL : &moment);
    }
    while (ret == 0 && (ret = lumeq_history_get(history, &curve)) == 0) {
        check_curve(curve);
        lumeq_curve_unref(&curve);
    }
    FUZZ_CHECK(ret == LUMEQ_ERR_END || ret == LUMEQ_ERR_ARGUMENT, "%d: %s", ret,
               lumeq_last_error(NULL));
}

static void read_measure(const uint8_t *bytes, size_t size, int flags)
{
    LumeqMeasure *measure = NULL;
    if (lumeq_measure_unpack(&measure, bytes, size) < 0) {
        FUZZ_CHECK(!measure, "a refused measure is not NULL");
        return;
    }
    fuzz_valid++;
    size_t size_again;
    uint8_t *again = packed(pack_measure, measure, &size_again);
    FUZZ_CHECK(size_again == size && memcmp(bytes, again, size) == 0, "the packed bytes differ");
    LumeqHistory *history = make_history(flags);
    run_history(history, measure, 2);
    (void)lumeq_measure_deepen(measure, 10);
    run_history(history, measure, 1);
    lumeq_history_destroy(&history);
    lumeq_measure_free(&measure);
    free(again);
}

static uint32_t number_at(const uint8_t *bytes, int index)
{
    const uint8_t *at = bytes + 4 * (size_t)index;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Makes a picture in the format that lumeq_put_shape() has written into a packed curve. Returns 0
 * if the picture is too large. */
static int make_image(LumeqImage *image, const uint8_t *bytes)
{
    *image = (LumeqImage){.width = (int)number_at(bytes, 2),
                          .height = (int)number_at(bytes, 3),
                          .depth = (int)number_at(bytes, 4),
                          .shift = (int)number_at(bytes, 5),
                          .range = (LumeqRange)number_at(bytes, 6),
                          .chroma_x = 1,
                          .chroma_y = 1};
    if ((int64_t)image->width * image->height > MOST_PIXELS)
        return 0;
    layout_alloc(image, LAYOUT_PLANAR);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < layout_height(image, c); y++)
            for (int x = 0; x < layout_width(image, c); x++)
                layout_put(image, c, x, y, (x * 5 + y * 3) % (1 << image->depth));
    return 1;
}

static void read_curve(const uint8_t *bytes, size_t size)
{
    LumeqCurve *curve = NULL;
    LumeqImage in, out;
    if (lumeq_curve_unpack(&curve, bytes, size) < 0) {
        FUZZ_CHECK(!curve, "a refused curve is not NULL");
        return;
    }
    fuzz_valid++;
    size_t size_again;
    uint8_t *again = packed(pack_curve, curve, &size_again);
    FUZZ_CHECK(size_again == size && memcmp(bytes, again, size) == 0, "the packed bytes differ");
    check_curve(curve);
    if (make_image(&in, bytes)) {
        const LumeqImage previous[] = {in, in, in};
        out = in;
        layout_alloc(&out, LAYOUT_PLANAR);
        FUZZ_CHECK(lumeq_apply(context, curve, &in, previous, 3, &out, NULL) == 0, "%s",
                   lumeq_last_error(NULL));
        layout_free(&out);
        layout_free(&in);
    }
    lumeq_curve_unref(&curve);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 9)
        return 0;
    if (!context)
        FUZZ_CHECK(lumeq_context_create(&context,
                                        &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 1},
                                        NULL, 0) == 0,
                   "%s", lumeq_last_error(NULL));
    const size_t length = size - 1;
    uint8_t *object = malloc(length + CHECKSUM);
    FUZZ_CHECK(object, "out of memory");
    memcpy(object, bytes + 1, length);
    const uint32_t sum = (uint32_t)crc32_z(0, object, length);
    for (int i = 0; i < CHECKSUM; i++)
        object[length + (size_t)i] = (uint8_t)(sum >> 8 * i);
    if (memcmp(object, "LQms", 4) == 0)
        read_measure(object, length + CHECKSUM, bytes[0]);
    else
        read_curve(object, length + CHECKSUM);
    free(object);
    return 0;
}
