/* Scopes of frames do not depend on how the picture is stored. */
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/intreadwrite.h>

#include "check.h"
#include "media/picture_format.h"
#include "new_frame.h"
#include "run/frame_scopes.h"

enum { WIDTH = 6, HEIGHT = 4 };

static Scopes scopes, plain;

/* Luma 16 + 10 x + y; the left third has Cb 90 and Cr 200, the rest is gray. */
static AVFrame *make(enum AVPixelFormat format, int bytes, int shift, int semi)
{
    AVFrame *frame = new_frame(format, WIDTH, HEIGHT);
    frame->color_range = AVCOL_RANGE_MPEG;
    frame->colorspace = AVCOL_SPC_BT709;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int is_left = x < WIDTH / 2 - 1;
            const int codes[3] = {16 + 10 * x + y, is_left ? 90 : 128, is_left ? 200 : 128};
            for (int i = 0; i < 3; i++) {
                const int plane = i && semi ? 1 : i, column = i ? x / 2 : x, row = i ? y / 2 : y;
                const int at = i && semi ? 2 * column + (i == 2) : column;
                uint8_t *line = frame->data[plane] + row * (ptrdiff_t)frame->linesize[plane];
                if (bytes == 1)
                    line[at] = (uint8_t)codes[i];
                else
                    AV_WL16(line + at * 2, (uint16_t)(codes[i] << shift));
            }
        }
    return frame;
}

static void count(enum AVPixelFormat format, int bytes, int shift, int semi)
{
    AVFrame *frame = make(format, bytes, shift, semi);
    CHECK(frame_scopes_count(&scopes, frame, 0) == 0, "format %d is refused", (int)format);
    av_frame_free(&frame);
}

TEST(formats)
{
    count(AV_PIX_FMT_YUV420P, 1, 0, 0);
    plain = scopes;
    CHECK(plain.columns == WIDTH && plain.has_chroma && !plain.full_range, "%d columns",
          plain.columns);
    CHECK(plain.waveform[2][36] == 1 && plain.waveform[2][39] == 1, "the third column is wrong");
    CHECK(plain.vectors[200][90] == 2 && plain.vectors[128][128] == 4, "%u and %u vectors",
          plain.vectors[200][90], plain.vectors[128][128]);
    CHECK(plain.kb > 0.072 && plain.kb < 0.0723, "BT.709's blue has %f", plain.kb);
    static const struct {
        enum AVPixelFormat format;
        int bytes, shift, semi;
    } others[] = {
        {AV_PIX_FMT_NV12, 1, 0, 1},
        {AV_PIX_FMT_YUV420P10LE, 2, 2, 0},
        {AV_PIX_FMT_P010LE, 2, 8, 1},
    };
    for (int i = 0; i < 3; i++) {
        count(others[i].format, others[i].bytes, others[i].shift, others[i].semi);
        CHECK(memcmp(&scopes, &plain, sizeof(plain)) == 0, "format %d differs", i);
    }
}

/* Columns are those of the displayed picture. */
TEST(turned)
{
    AVFrame *frame = make(AV_PIX_FMT_YUV420P, 1, 0, 0);
    CHECK(frame_scopes_count(&scopes, frame, 1) == 0, "a mirrored frame is refused");
    CHECK(scopes.waveform[0][66] == 1 && scopes.waveform[5][16] == 1, "not mirrored");
    AVFrameSideData *data =
        av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    if (!data)
        exit(1);
    static const int32_t clockwise[9] = {0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30};
    memcpy(data->data, clockwise, sizeof(clockwise)); /* the upper row is displayed at the right */
    CHECK(frame_scopes_count(&scopes, frame, 0) == 0 && scopes.columns == HEIGHT, "%d columns",
          scopes.columns);
    for (int x = 0; x < WIDTH; x++)
        CHECK(scopes.waveform[HEIGHT - 1][16 + 10 * x] == 1 && scopes.waveform[0][19 + 10 * x] == 1,
              "stored column %d is wrong", x);
    CHECK(scopes.vectors[200][90] == 2, "chroma has changed");
    av_frame_free(&frame);
}

/* ---- some rows of a large frame are enough ---- */

static size_t plane_size(const AVFrame *frame, int i)
{
    return (size_t)samples_down(frame, i) * (size_t)frame->linesize[i];
}

static AVFrame *make_large(enum AVPixelFormat format, int width, int height, const int32_t *matrix)
{
    AVFrame *frame = new_frame(format, width, height);
    AVFrameSideData *data =
        av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    if (!data)
        exit(1);
    memcpy(data->data, matrix, 9 * sizeof(int32_t));
    for (int i = 0; i < 3 && frame->data[i]; i++)
        for (size_t k = 0; k < plane_size(frame, i); k++)
            frame->data[i][k] = (uint8_t)check_hash((uint64_t)i, k);
    return frame;
}

/* A whole plane, as displayed. */
static ScopesPlane whole_plane(const AVFrame *frame, const PictureFormat *f, int i, int component)
{
    const PicturePlane *plane = &f->plane[i];
    const int stands = f->turn.xx != 0;
    const PictureSteps steps =
        picture_steps(f->turn, plane->width, plane->height, (ptrdiff_t)plane->components * f->bytes,
                      frame->linesize[i]);
    return (ScopesPlane){.first = frame->data[i] + (ptrdiff_t)component * f->bytes + steps.first,
                         .column = steps.column,
                         .row = steps.row,
                         .width = stands ? plane->width : plane->height,
                         .height = stands ? plane->height : plane->width,
                         .bytes = f->bytes,
                         .depth = f->depth,
                         .shift = f->shift};
}

static void count_whole(const AVFrame *frame)
{
    char why[128];
    PictureFormat f;
    CHECK(picture_format(&f, frame, why, sizeof(why)) == 0, "%s", why);
    const ScopesPicture picture = {.luma = whole_plane(frame, &f, 0, 0),
                                   .cb = whole_plane(frame, &f, 1, 0),
                                   .cr = whole_plane(frame, &f, f.planes - 1, f.planes == 2),
                                   .kr = f.kr,
                                   .kb = f.kb,
                                   .full_range = f.full_range};
    scopes_count(&plain, &picture);
}

/* Overwrites all rows but these. Returns the number of bytes kept. */
static size_t keep_rows(const AVFrame *frame, const FrameRows *rows, int planes)
{
    size_t kept = 0;
    for (int i = 0; i < planes; i++) {
        const size_t size = plane_size(frame, i);
        uint8_t *const memory = frame->data[i], *const copy = malloc(size);
        if (!copy)
            exit(1);
        memcpy(copy, memory, size);
        memset(memory, 0x55, size);
        for (int y = 0; y < rows[i].count; y++) {
            const ptrdiff_t at = rows[i].data - memory + y * rows[i].stride;
            memcpy(memory + at, copy + at, (size_t)rows[i].bytes);
        }
        kept += (size_t)rows[i].bytes * (size_t)rows[i].count;
        free(copy);
    }
    return kept;
}

TEST(rows_are_enough)
{
    static const int turns[8][4] = {{1, 0, 0, 1},  {-1, 0, 0, -1}, {0, 1, -1, 0}, {0, -1, 1, 0},
                                    {1, 0, 0, -1}, {-1, 0, 0, 1},  {0, 1, 1, 0},  {0, -1, -1, 0}};
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_P010LE};
    for (int turn = 0; turn < 8; turn++)
        for (int i = 0; i < 2; i++) {
            int32_t matrix[9] = {0};
            for (int k = 0; k < 4; k++)
                matrix[k / 2 * 3 + k % 2] = turns[turn][k] * (1 << 16);
            FrameRows rows[FRAME_ROWS_PLANES];
            AVFrame *frame = make_large(formats[i], 1003, 1999, matrix);
            count_whole(frame);
            const int planes = frame_scopes_rows(rows, frame, 0);
            CHECK(planes == 3 - i, "%d planes", planes);
            const size_t kept = keep_rows(frame, rows, planes);
            const size_t most = (turns[turn][0] ? 501 : 1168) * 1003 * (size_t)(i ? 2 : 1);
            CHECK(kept <= most, "turn %d: %zu bytes", turn, kept);
            frame_scopes_count_rows(&scopes, frame, rows, 0);
            CHECK(memcmp(&scopes, &plain, sizeof(plain)) == 0, "turn %d, format %d", turn, i);
            frame_scopes_count(&scopes, frame, 0);
            CHECK(memcmp(&scopes, &plain, sizeof(plain)) == 0, "turn %d, format %d: all rows", turn,
                  i);
            av_frame_free(&frame);
        }
}

TEST(unknown)
{
    AVFrame *frame = make(AV_PIX_FMT_YUV420P, 1, 0, 0);
    frame->format = AV_PIX_FMT_RGB24;
    CHECK(frame_scopes_count(&scopes, frame, 0) < 0, "RGB was counted");
    av_frame_free(&frame);
}

TEST_MAIN
