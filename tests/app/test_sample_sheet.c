/* The contact sheet of --sample: its size, and where pictures of different sizes lie in it. */
#include "../check.h"

#include <stdio.h>
#include <unistd.h>

#include <libavutil/frame.h>
#include <libavutil/intreadwrite.h>

#include "app/sample.h"

#define WIDTH_AT 16 /* bytes into a PNG */
#define HEIGHT_AT 20

static AVFrame *make_frame(int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = AV_PIX_FMT_GRAY8;
    frame->width = width;
    frame->height = height;
    CHECK(av_frame_get_buffer(frame, 0) >= 0, "no memory");
    for (int y = 0; y < height; y++)
        memset(frame->data[0] + y * frame->linesize[0], 128, (size_t)width);
    return frame;
}

/* A wide strip is 480x4, a picture of 4:3 is 480x360, one on its side 270x360. */
TEST(cells_are_as_large_as_the_largest_picture)
{
    static const int sizes[][2] = {{1920, 16}, {320, 240}, {1080, 1440}};
    char path[] = "/tmp/sample-sheet-XXXXXX";
    uint8_t head[24] = {0};
    MediaError error = {0};
    FREED_BY(sample_sheet_free) SampleSheet *sheet = sample_sheet_create(3);
    for (int i = 0; i < 3; i++) {
        FREED_BY(av_frame_free) AVFrame *before = make_frame(sizes[i][0], sizes[i][1]);
        FREED_BY(av_frame_free) AVFrame *after = make_frame(sizes[2 - i][0], sizes[2 - i][1]);
        CHECK(sample_sheet_add(sheet, before, after, i, &error) == 0, "%s", error.text);
    }
    close(mkstemp(path));
    CHECK(sample_sheet_write(sheet, path, 1, &error) == 0, "%s", error.text);
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(head, sizeof(head), 1, file) == 1, "no sheet");
    CHECK(AV_RB32(head + WIDTH_AT) == 3 * (480 + 8) + 8, "%u wide", AV_RB32(head + WIDTH_AT));
    CHECK(AV_RB32(head + HEIGHT_AT) == 32 + 2 * 360 + 4 + 8 + 8, "%u high",
          AV_RB32(head + HEIGHT_AT));
    if (file)
        fclose(file);
    unlink(path);
}

TEST_MAIN
