/* Valid and invalid calls of liblumeq on the CPU in any order, on all kinds of objects. */
#include <math.h>

#include "equalizer/all_stats.h"
#include "equalizer/layouts.h"
#include "fuzz.h"

#define FEW 3 /* objects of each kind */
#define PICTURES 12
#define SLOTS 16 /* more than frames in flight */
#define MOST_CALLS 400
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static LumeqImage pictures[PICTURES];

static void make_pictures(void)
{
    static const struct {
        int width, height, depth, shift, x, y;
        Layout layout;
    } shapes[] = {
        {48, 32, 8, 0, 1, 1, LAYOUT_PLANAR},  {48, 32, 8, 0, 1, 1, LAYOUT_PAIRS},
        {48, 32, 10, 0, 1, 1, LAYOUT_PLANAR}, {48, 32, 10, 6, 1, 1, LAYOUT_PAIRS},
        {17, 9, 8, 0, 0, 0, LAYOUT_GRAY},     {1, 1, 16, 0, 2, 2, LAYOUT_PLANAR},
    };
    for (int n = 0; n < PICTURES; n++) {
        const int kind = n % COUNT(shapes);
        LumeqImage *image = &pictures[n];
        *image = (LumeqImage){.width = shapes[kind].width,
                              .height = shapes[kind].height,
                              .depth = shapes[kind].depth,
                              .shift = shapes[kind].shift,
                              .chroma_x = shapes[kind].x,
                              .chroma_y = shapes[kind].y};
        layout_alloc(image, shapes[kind].layout);
        for (int c = 0; c < layout_components(image); c++)
            for (int y = 0; y < layout_height(image, c); y++)
                for (int x = 0; x < layout_width(image, c); x++) {
                    const uint64_t r = check_hash((uint64_t)n, (uint64_t)(97 * y + x));
                    /* The first picture of each shape is dark, with black bars. */
                    const int dark = n < COUNT(shapes), black = dark && !c && (y < 4 || y >= 28);
                    const int bits = image->depth - (dark && !c ? 3 : 1);
                    layout_put(image, c, x, y, black ? 0 : (int)(r % (UINT64_C(1) << bits)));
                }
    }
}

/* Objects of all kinds; any of them may be NULL. */
typedef struct World {
    FuzzBytes from;
    LumeqContext *contexts[FEW];
    LumeqEqualizer *equalizers[FEW];
    LumeqMeasure *measures[FEW];
    LumeqHistory *histories[FEW];
    LumeqCurve *curves[FEW];
    void *memory[FEW];
    LumeqImage out[FEW][SLOTS]; /* outputs of frames in flight, by equalizer */
    int next_out[FEW];
    uint8_t bytes[1 << 17];
    size_t size; /* of the last packed object */
    FrameStats stats;
} World;

static World world;
int fuzz_valid;

static int below(World *w, int count)
{
    return fuzz_below(&w->from, count);
}

static double any_number(World *w)
{
    static const double numbers[] = {0,    0.1,  0.3, 0.5,      0.8,   1,        1.5,       -1,
                                     2.5,  -0.5, 10,  1000,     3600,  1e-300,   0.0999999, -1.1,
                                     10.1, 1001, NAN, INFINITY, 1e300, -INFINITY};
    return numbers[below(w, COUNT(numbers))];
}

static int any_integer(World *w)
{
    static const int numbers[] = {0, 1, 2, 3, 4, 8, 16, 17, 48, -1, -2, INT32_MAX, INT32_MIN};
    return numbers[below(w, COUNT(numbers))];
}

static LumeqParams any_params(World *w)
{
    LumeqParams p = {.size = sizeof(p)};
    lumeq_params_default(&p);
    for (int changes = below(w, 5); changes > 0; changes--)
        switch (below(w, 21)) {
        case 0:
        case 1: p.mode = (LumeqMode)below(w, 6); break;
        case 2: p.reference = below(w, 2); break;
        case 3: p.strength = any_number(w); break;
        case 4: p.adaptive = below(w, 2); break;
        case 5: p.clip = any_number(w); break;
        case 6: p.smooth = any_number(w); break;
        case 7: p.scene_cut = below(w, 2); break;
        case 8: p.tiles_x = any_integer(w); break;
        case 9: p.tiles_y = any_integer(w); break;
        case 10: p.chroma = (LumeqChroma)below(w, 3); break;
        case 11: p.dither = below(w, 2); break;
        case 12: p.bars = (LumeqBars)below(w, 3); break;
        case 13: p.deflicker = any_number(w); break;
        case 14:
            p.meter = (LumeqRect){any_integer(w), any_integer(w), any_integer(w), any_integer(w)};
            break;
        case 15: p.lift = below(w, 2); break;
        case 16: p.denoise = any_number(w); break;
        case 17: p.brightness = any_number(w); break;
        case 18: p.gamma = any_number(w); break;
        case 19: p.await_noise = below(w, 2); break;
        default: p.limit = (LumeqLimit)below(w, 4); break;
        }
    return p;
}

/* One of the pictures, sometimes with changed fields that stay within the planes. */
static LumeqImage any_image(World *w)
{
    LumeqImage image = pictures[below(w, PICTURES)];
    switch (below(w, 24)) {
    case 0: image.width = below(w, image.width + 1); break;
    case 1: image.height = below(w, image.height + 1); break;
    case 2: image.depth = below(w, image.depth + 1); break;
    case 3: image.shift = any_integer(w); break;
    case 4: image.range = (LumeqRange)below(w, 3); break;
    case 5: image.plane[1 + below(w, 2)] = NULL; break;
    case 6: image.memory = (LumeqMemory)below(w, 3); break;
    case 7: image.stride[below(w, 3)] -= 1 + below(w, 8); break;
    case 8:
        image.plane[0] = (uint8_t *)image.plane[0] + (image.height - 1) * image.stride[0];
        image.stride[0] = -image.stride[0];
        break;
    default: break;
    }
    return image;
}

static int64_t any_time(World *w)
{
    static const int64_t times[] = {LUMEQ_NO_TIME, INT64_MAX, INT64_MIN + 1, 0, -1};
    const int n = below(w, 128);
    return n < COUNT(times) ? times[n] : n * INT64_C(10000000);
}

static LumeqFrame any_frame(World *w, int equalizer)
{
    static LumeqImage previous;
    LumeqFrame frame = {.in = any_image(w), .time = any_time(w)};
    const int flags = below(w, 256);
    if (flags & 1) {
        previous = flags & 2 ? frame.in : any_image(w);
        frame.previous = &previous;
    }
    LumeqImage *out = &w->out[equalizer][w->next_out[equalizer]];
    if (flags & 12) {
        layout_free(out);
        *out = flags & 16 ? pictures[below(w, PICTURES)] : frame.in;
        if (out->width > 0 && out->height > 0)
            layout_alloc(out, (Layout)(flags / 32 % LAYOUTS));
        else
            *out = (LumeqImage){0};
        frame.out = *out;
    }
    frame.interlaced = flags / 128;
    frame.duration = below(w, 3) * INT64_C(1000000);
    frame.number = below(w, 8) ? below(w, 5) : any_time(w);
    return frame;
}

static int submit(World *w, int i)
{
    const LumeqFrame frame = any_frame(w, i);
    const int ret = lumeq_submit(w->equalizers[i], &frame);
    if (ret == 0)
        w->next_out[i] = (w->next_out[i] + 1) % SLOTS;
    return ret;
}

static void drain(World *w, int i)
{
    LumeqEqualizer *eq = w->equalizers[i];
    int ret = 0;
    lumeq_flush(eq);
    for (int n = 0; eq && n < SLOTS && ret == 0; n++)
        ret = lumeq_receive(eq, NULL, NULL);
    FUZZ_CHECK(!eq || ret == LUMEQ_ERR_END, "%d", ret);
}

static void destroy(World *w, int i)
{
    lumeq_free_host(lumeq_get_context(w->equalizers[i]), w->memory[i]);
    w->memory[i] = NULL;
    lumeq_destroy(&w->equalizers[i]);
}

static int call_equalizer(World *w)
{
    const int i = below(w, FEW);
    LumeqEqualizer **eq = &w->equalizers[i];
    LumeqParams params;
    LumeqFrame frame;
    switch (below(w, 16)) {
    case 0:
        if (*eq)
            return 0;
        return lumeq_create(eq,
                            &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU,
                                           .threads = 1,
                                           .cpu_without = (unsigned)below(w, 4)},
                            NULL, 0);
    case 1: destroy(w, i); return 0;
    case 2:
    case 3: params = any_params(w); return lumeq_set_params(*eq, &params);
    case 4:
    case 5:
    case 6: return submit(w, i);
    case 7:
        frame = (LumeqFrame){0};
        return lumeq_receive(*eq, below(w, 2) ? &frame : NULL,
                             below(w, 2) ? ask_stats(&w->stats) : NULL);
    case 8:
    case 9:
        frame = any_frame(w, i);
        return lumeq_process(*eq, &frame, below(w, 2) ? ask_stats(&w->stats) : NULL);
    case 10: lumeq_flush(*eq); return 0;
    case 11: lumeq_reset(*eq); return 0;
    case 12: drain(w, i); return 0;
    default: break;
    }
    if (!*eq || w->memory[i])
        return 0;
    const size_t size = 1 + (size_t)below(w, 256) * 64;
    w->memory[i] = lumeq_alloc_host(lumeq_get_context(*eq), size);
    if (w->memory[i])
        memset(w->memory[i], 1, size);
    return w->memory[i] ? 0 : LUMEQ_ERR_MEMORY;
}

static int apply(World *w)
{
    const LumeqImage in = any_image(w), shape = below(w, 4) ? in : any_image(w);
    LumeqImage out = {0}, previous[4];
    const int count = below(w, 5);
    for (int i = 0; i < count; i++)
        previous[i] = below(w, 8) ? in : any_image(w);
    if (shape.width > 0 && shape.height > 0) {
        out = shape;
        layout_alloc(&out, (Layout)below(w, LAYOUTS));
    }
    const int ret = lumeq_apply(w->contexts[below(w, FEW)], w->curves[below(w, FEW)], &in,
                                count ? previous : NULL, count, &out, NULL);
    layout_free(&out);
    return ret;
}

static int call_step(World *w)
{
    const int i = below(w, FEW), k = below(w, FEW);
    LumeqContext **context = &w->contexts[i];
    LumeqMeasure **measure = &w->measures[k];
    LumeqHistory **history = &w->histories[i];
    LumeqCurve **curve = &w->curves[k];
    LumeqParams params;
    LumeqImage in, previous;
    LumeqMoment moment;
    switch (below(w, 20)) {
    case 0:
        if (*context)
            return 0;
        return lumeq_context_create(
            context, &(LumeqConfig){.backend = LUMEQ_BACKEND_CPU, .threads = 1}, NULL, 0);
    case 1:
        if (below(w, 4) == 0)
            lumeq_context_destroy(context); /* measures and curves remain valid */
        return 0;
    case 2:
    case 3:
    case 4:
        params = any_params(w);
        in = any_image(w);
        previous = below(w, 2) ? in : any_image(w);
        return lumeq_measure(*context, measure, below(w, 2) ? &params : NULL, &in,
                             below(w, 2) ? &previous : NULL, NULL);
    case 5: lumeq_measure_free(measure); return 0;
    case 6: return lumeq_measure_finish(*measure, below(w, 2));
    case 7: return lumeq_measure_deepen(*measure, below(w, 18));
    case 8:
        lumeq_history_destroy(history);
        params = any_params(w);
        return lumeq_history_create(history, below(w, 2) ? &params : NULL,
                                    below(w, 3) * INT64_C(100000000) * below(w, 60));
    case 9:
    case 10:
    case 11:
        moment = (LumeqMoment){.number = below(w, 6) - 1,
                               .time = any_time(w),
                               .duration = below(w, 3) * INT64_C(20000000),
                               .discontinuity = below(w, 8) == 0,
                               .interlaced = below(w, 2)};
        return lumeq_history_put(*history, *measure, *measure ? &moment : NULL);
    case 12:
    case 13: lumeq_curve_unref(curve); return lumeq_history_get(*history, curve);
    case 14: return lumeq_curve_stats(*curve, ask_stats(&w->stats));
    case 15: return lumeq_history_put(*history, NULL, NULL);
    case 16: params = any_params(w); return lumeq_history_set_params(*history, &params);
    case 17: return lumeq_history_copy(*history, w->histories[below(w, FEW)]);
    default: return apply(w);
    }
}

static int call_bytes(World *w)
{
    const int i = below(w, FEW);
    LumeqMeasure **measure = &w->measures[i];
    LumeqCurve **curve = &w->curves[i];
    size_t size = below(w, 8) ? sizeof(w->bytes) : (size_t)below(w, 256) * 20;
    int ret;
    switch (below(w, 5)) {
    case 0: ret = lumeq_measure_pack(*measure, w->bytes, &size); break;
    case 1: ret = lumeq_curve_pack(*curve, w->bytes, &size); break;
    case 2: ret = lumeq_curve_pack_bare(*curve, w->bytes, &size); break;
    case 3: return lumeq_measure_unpack(measure, w->bytes, w->size);
    default: return lumeq_curve_unpack(curve, w->bytes, w->size);
    }
    w->size = ret == 0 ? size : 0;
    return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    World *w = &world;
    int valid = 0;
    if (!pictures[0].plane[0])
        make_pictures();
    memset(w, 0, sizeof(*w));
    w->from = (FuzzBytes){bytes, size};
    for (int n = 0; n < MOST_CALLS && w->from.left; n++) {
        const int kind = below(w, 8);
        const int ret = kind < 3 ? call_equalizer(w) : kind < 7 ? call_step(w) : call_bytes(w);
        FUZZ_CHECK(ret <= 0 && ret >= LUMEQ_ERR_MEMORY, "call %d returns %d", n, ret);
        valid += ret == 0;
    }
    fuzz_valid += valid > 0;
    for (int i = 0; i < FEW; i++) {
        drain(w, i);
        destroy(w, i);
        lumeq_measure_free(&w->measures[i]);
        lumeq_history_destroy(&w->histories[i]);
        lumeq_curve_unref(&w->curves[i]);
        lumeq_context_destroy(&w->contexts[i]);
        for (int k = 0; k < SLOTS; k++)
            layout_free(&w->out[i][k]);
    }
    return 0;
}
