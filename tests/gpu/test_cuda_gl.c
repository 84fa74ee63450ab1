/*
 * Planes uploaded to the view's textures through CUDA look the same as with the usual upload.
 * OpenGL must run on the GPU, for example with SDL_VIDEODRIVER=offscreen.
 */
#include <SDL.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "gpu_check.h"
#include "player/view/view.h"
#include "player/view/view_cuda.h"

#define DEVICE 0
#define READ_WIDTH 160
#define READ_HEIGHT 120

/* ---- a window, its view, and the upload through CUDA --------------------------------------- */

typedef struct Stage {
    SDL_Window *window;
    SDL_GLContext context;
    View *view;
    ViewCuda *cuda;
} Stage;

static void close_window(Stage *s)
{
    if (s->context)
        SDL_GL_DeleteContext(s->context);
    if (s->window)
        SDL_DestroyWindow(s->window);
    SDL_Quit();
    *s = (Stage){0};
}

static int open_window(Stage *s, int width, int height)
{
    *s = (Stage){0};
    if (SDL_Init(SDL_INIT_VIDEO) < 0) {
        check_skip("no video: %s", SDL_GetError());
        return 0;
    }
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    s->window = SDL_CreateWindow("test", 0, 0, width, height, SDL_WINDOW_OPENGL);
    s->context = s->window ? SDL_GL_CreateContext(s->window) : NULL;
    if (!s->context) {
        check_skip("no OpenGL 3.3: %s", SDL_GetError());
        close_window(s);
    }
    return s->context != NULL;
}

static void close_stage(Stage *s)
{
    view_close(&s->view);
    view_cuda_close(&s->cuda);
    close_window(s);
}

static int open_stage(Stage *s, int width, int height)
{
    MediaError error = {0};
    if (!have_gpu() || !open_window(s, width, height))
        return 0;
    if (CHECK(view_open(&s->view, &error) == 0, "%s", error.text)) {
        if (view_cuda_open(&s->cuda, DEVICE, &error) == 0)
            return 1;
        CHECK(strstr(error.text, "GPU 0") != NULL, "the message is \"%s\"", error.text);
        check_skip("%s: %s", view_renderer(s->view), error.text);
    }
    close_stage(s);
    return 0;
}

/* Defines a test that runs with an open stage `s`. */
#define STAGE_TEST(name)                                                                           \
    static void name##_on(Stage *s);                                                               \
    TEST(name)                                                                                     \
    {                                                                                              \
        Stage stage;                                                                               \
        if (open_stage(&stage, READ_WIDTH, READ_HEIGHT)) {                                         \
            name##_on(&stage);                                                                     \
            close_stage(&stage);                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void name##_on(Stage *s)

/* ---- frames -------------------------------------------------------------------------------- */

typedef enum Where { ORDINARY, PINNED, LUMA_ON_DEVICE, ALL_ON_DEVICE, WHERES } Where;

static const char *const where_names[WHERES] = {"ordinary memory", "pinned memory",
                                                "luma on the device", "all on the device"};

static int is_on_device(Where where, int plane)
{
    return where == ALL_ON_DEVICE || (where == LUMA_ON_DEVICE && plane == 0);
}

static void free_device(void *opaque, uint8_t *data)
{
    (void)opaque;
    OK(cudaFree(data));
}

static void free_pinned(void *opaque, uint8_t *data)
{
    (void)opaque;
    OK(cudaFreeHost(data));
}

/* A buffer with a copy of `content`. LUMA_ON_DEVICE: chroma is pinned. */
static AVBufferRef *make_buffer(Where where, int plane, const uint8_t *content, size_t size)
{
    void *memory = NULL;
    if (where == ORDINARY) {
        AVBufferRef *ref = av_buffer_alloc(size);
        memcpy(ref->data, content, size);
        return ref;
    }
    if (is_on_device(where, plane))
        OK(cudaMalloc(&memory, size));
    else
        OK(cudaHostAlloc(&memory, size, cudaHostAllocPortable));
    OK(cudaMemcpy(memory, content, size, cudaMemcpyDefault));
    OK(cudaStreamSynchronize(NULL)); /* cudaMemcpy() may return before it has finished */
    return av_buffer_create(memory, size, is_on_device(where, plane) ? free_device : free_pinned,
                            NULL, 0);
}

typedef struct Shape {
    enum AVPixelFormat format;
    int width, height;
    int padding; /* bytes at the end of each row */
    int flipped; /* bottom-up in memory */
} Shape;

/* A frame of noise, the same for any `where`. */
static AVFrame *make_frame(const Shape *shape, Where where, uint64_t seed)
{
    AVFrame *frame = av_frame_alloc();
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(shape->format);
    frame->format = shape->format;
    frame->width = shape->width;
    frame->height = shape->height;
    for (int i = 0; i < av_pix_fmt_count_planes(shape->format); i++) {
        const int height = i ? AV_CEIL_RSHIFT(shape->height, desc->log2_chroma_h) : shape->height;
        const int stride = av_image_get_linesize(shape->format, shape->width, i) + shape->padding;
        const size_t size = (size_t)stride * (size_t)height;
        uint8_t *content = malloc(size);
        for (size_t k = 0; k < size; k++)
            content[k] = (uint8_t)check_hash(seed + (uint64_t)i, k);
        frame->buf[i] = make_buffer(where, i, content, size);
        frame->data[i] = frame->buf[i]->data + (shape->flipped ? (height - 1) * stride : 0);
        frame->linesize[i] = shape->flipped ? -stride : stride;
        free(content);
    }
    return frame;
}

static void set_frame(Stage *s, ViewSide side, const AVFrame *frame)
{
    MediaError error = {0};
    CHECK(view_set_frame(s->view, side, frame, &error) == 0, "%s", error.text);
}

static void use_cuda(Stage *s, int used)
{
    view_set_uploader(s->view, used ? view_cuda_uploader(s->cuda) : NULL);
}

/* ---- pictures on the screen ---------------------------------------------------------------- */

typedef uint8_t Picture[READ_HEIGHT][READ_WIDTH][4];

static void read_scene(Stage *s, ViewCompare compare, Picture picture)
{
    MediaError error = {0};
    const Canvas canvas = {picture[0][0], READ_WIDTH * 4, READ_WIDTH, READ_HEIGHT};
    const ViewScene scene = {.width = READ_WIDTH,
                             .height = READ_HEIGHT,
                             .area = {0, 0, READ_WIDTH, READ_HEIGHT},
                             .compare = compare,
                             .shown = VIEW_OUTPUT,
                             .split = 0.4};
    CHECK(view_read(s->view, &scene, &canvas, &error) == 0, "%s", error.text);
}

/* Shows another frame first, so that a missing upload is noticed. */
static void show(Stage *s, const Shape *shape, Where where, int through_cuda, Picture picture)
{
    AVFrame *other = make_frame(shape, ORDINARY, 77), *frame = make_frame(shape, where, 5);
    use_cuda(s, 0);
    set_frame(s, VIEW_OUTPUT, other);
    use_cuda(s, through_cuda);
    set_frame(s, VIEW_OUTPUT, frame);
    av_frame_free(&frame); /* the window shows a copy */
    av_frame_free(&other);
    read_scene(s, VIEW_COMPARE_OFF, picture);
    CHECK(!view_cuda_failure(s->cuda), "%s", view_cuda_failure(s->cuda));
}

static void compare(Stage *s, const Shape *shape)
{
    static Picture usual, through_cuda;
    show(s, shape, ORDINARY, 0, usual);
    for (Where where = ORDINARY; where < WHERES; where++) {
        show(s, shape, where, 1, through_cuda);
        CHECK(!memcmp(usual, through_cuda, sizeof(usual)),
              "%s, %dx%d, padding %d%s: %s shows another picture",
              av_get_pix_fmt_name(shape->format), shape->width, shape->height, shape->padding,
              shape->flipped ? ", bottom-up" : "", where_names[where]);
    }
}

STAGE_TEST(every_layout)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12,      AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P,
        AV_PIX_FMT_GRAY8,   AV_PIX_FMT_YUV420P10, AV_PIX_FMT_P010,
    };
    static const int sizes[][2] = {{64, 48}, {1, 1}, {2, 1}, {17, 13}, {321, 181}, {1919, 1081}};
    for (int f = 0; f < (int)(sizeof(formats) / sizeof(*formats)); f++)
        for (int i = 0; i < (int)(sizeof(sizes) / sizeof(*sizes)); i++) {
            const Shape shape = {formats[f], sizes[i][0], sizes[i][1], (f + i) % 3 * 22, i == 3};
            compare(s, &shape);
        }
}

/* Input and output are shown beside each other, and share their chroma planes. */
STAGE_TEST(both_sides)
{
    static const Shape shape = {AV_PIX_FMT_YUV420P, 321, 181, 31, 0};
    static Picture pictures[2];
    for (int through_cuda = 0; through_cuda < 2; through_cuda++) {
        FREED_BY(av_frame_free)
        AVFrame *in = make_frame(&shape, through_cuda ? PINNED : ORDINARY, 1);
        FREED_BY(av_frame_free)
        AVFrame *luma = make_frame(&shape, through_cuda ? LUMA_ON_DEVICE : ORDINARY, 2);
        FREED_BY(av_frame_free) AVFrame *out = av_frame_clone(in);
        av_buffer_unref(&out->buf[0]);
        out->buf[0] = av_buffer_ref(luma->buf[0]);
        out->data[0] = out->buf[0]->data;
        use_cuda(s, through_cuda);
        for (int i = 0; i < 3; i++) {
            set_frame(s, VIEW_INPUT, in);
            set_frame(s, VIEW_OUTPUT, out);
        }
        read_scene(s, VIEW_COMPARE_SPLIT, pictures[through_cuda]);
        set_frame(s, VIEW_INPUT, NULL);
        set_frame(s, VIEW_OUTPUT, NULL);
    }
    CHECK(!memcmp(pictures[0], pictures[1], sizeof(pictures[0])),
          "uploads by CUDA show another picture");
}

/* ---- rows for the scopes -------------------------------------------------------------------- */

/* Rows downloaded from the GPU give the same figures as the frame on the host. */
STAGE_TEST(rows_for_scopes)
{
    static const Shape shapes[] = {{AV_PIX_FMT_YUV420P, 1919, 1081, 3, 0},
                                   {AV_PIX_FMT_YUV420P10, 3840, 2160, 64, 0}};
    static Scopes here, there;
    for (int i = 0; i < 2; i++)
        for (Where where = PINNED; where < WHERES; where++) {
            FrameRows rows[FRAME_ROWS_PLANES];
            FREED_BY(av_frame_free) AVFrame *host = make_frame(&shapes[i], ORDINARY, 9);
            FREED_BY(av_frame_free) AVFrame *frame = make_frame(&shapes[i], where, 9);
            CHECK(frame_scopes_count(&here, host, 0) == 0, "not counted");
            const int planes = frame_scopes_rows(rows, frame, 0);
            CHECK(planes == 3 && view_cuda_fetch(s->cuda, rows, planes) == 0, "%s",
                  view_cuda_failure(s->cuda));
            frame_scopes_count_rows(&there, frame, rows, 0);
            CHECK(memcmp(&here, &there, sizeof(here)) == 0, "%s: figures differ",
                  where_names[where]);
        }
}

/* ---- opening, closing, failing ------------------------------------------------------------- */

STAGE_TEST(declines)
{
    ViewCuda *cuda = NULL;
    MediaError error = {0};
    (void)s;
    CHECK(view_cuda_open(&cuda, 99, &error) < 0 && !cuda, "opens GPU 99");
    CHECK(strstr(error.text, "GPU 99") != NULL, "the message is \"%s\"", error.text);
    CHECK(cudaGetLastError() == cudaSuccess, "a CUDA error is left");
}

/* View, CUDA upload and equalizer can be closed in any order; the view works without the others. */
TEST(closes_in_any_order)
{
    static const Shape shape = {AV_PIX_FMT_YUV420P, 64, 48, 0, 0};
    static Picture before, after;
    for (int order = 0; order < 3; order++) {
        Stage s;
        LumeqEqualizer *eq = NULL;
        if (!open_stage(&s, READ_WIDTH, READ_HEIGHT))
            return;
        lumeq_create(&eq, NULL, NULL, 0);
        show(&s, &shape, LUMA_ON_DEVICE, 1, before);
        if (order == 0)
            lumeq_destroy(&eq);
        if (order < 2) {
            use_cuda(&s, 0);
            view_cuda_close(&s.cuda);
            AVFrame *frame = make_frame(&shape, ORDINARY, 5);
            set_frame(&s, VIEW_OUTPUT, frame);
            av_frame_free(&frame);
            read_scene(&s, VIEW_COMPARE_OFF, after);
            CHECK(!memcmp(before, after, sizeof(before)), "the picture changes");
        }
        close_stage(&s);
        lumeq_destroy(&eq);
        CHECK(cudaGetLastError() == cudaSuccess, "a CUDA error is left");
    }
}

/* An invalid texture makes CUDA fail. Frames in host memory are then uploaded without CUDA. */
TEST(fails_in_mid_run)
{
    static const Shape shape = {AV_PIX_FMT_YUV420P, 64, 48, 0, 0};
    static Picture expected, picture;
    for (Where where = ORDINARY; where < WHERES; where++) {
        Stage s;
        MediaError error = {0};
        if (!open_stage(&s, READ_WIDTH, READ_HEIGHT))
            return;
        show(&s, &shape, ORDINARY, 1, expected);
        AVFrame *frame = make_frame(&shape, where, 5);
        const ViewUploader *uploader = view_cuda_uploader(s.cuda);
        const ViewPlane plane = {.texture = 123456,
                                 .width = shape.width,
                                 .height = shape.height,
                                 .bytes_per_row = shape.width,
                                 .data = frame->data[0],
                                 .stride = frame->linesize[0]};
        const int ret = uploader->upload(uploader->opaque, &plane, 1, &error);
        CHECK(ret == (is_on_device(where, 0) ? MEDIA_INPUT : 1), "%s: %d", where_names[where], ret);
        CHECK(!error.text[0] == !is_on_device(where, 0), "the message is \"%s\"", error.text);
        CHECK(view_cuda_failure(s.cuda) != NULL, "no failure is reported");
        CHECK(cudaGetLastError() == cudaSuccess, "a CUDA error is left");
        av_frame_free(&frame);

        frame = make_frame(&shape, ORDINARY, 5);
        set_frame(&s, VIEW_OUTPUT, frame);
        read_scene(&s, VIEW_COMPARE_OFF, picture);
        CHECK(!memcmp(picture, expected, sizeof(picture)),
              "the usual upload shows another picture");
        av_frame_free(&frame);
        close_stage(&s);
    }
}

TEST_MAIN
