/*
 * Equalizes raw 8-bit video from standard input to standard output: WIDTHxHEIGHT frames with planes
 * Y, Cb and Cr in 4:2:0, or luma only.
 *   ffmpeg -i in.mkv -f rawvideo -pix_fmt yuv420p - | embed 1920 1080 | ffplay -f rawvideo ...
 *   cc embed.c -o embed $(pkg-config --cflags --libs lumeq)
 */
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_TIME 40000000 /* nanoseconds: 25 frames a second */

static LumeqImage image_at(unsigned char *memory, int width, int height, int gray)
{
    const size_t luma = (size_t)width * height;
    const int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    LumeqImage image = {.width = width, .height = height, .depth = 8, .chroma_x = 1, .chroma_y = 1};
    image.plane[0] = memory;
    image.stride[0] = width;
    for (int i = 1; i < 3 && !gray; i++) {
        image.plane[i] = memory + luma + (size_t)(i - 1) * chroma_width * chroma_height;
        image.stride[i] = chroma_width;
    }
    return image;
}

int main(int argc, char **argv)
{
    const int width = argc > 2 ? atoi(argv[1]) : 0, height = argc > 2 ? atoi(argv[2]) : 0;
    const int gray = argc > 3 && strcmp(argv[3], "gray") == 0;
    if (width < 1 || width > LUMEQ_MAX_SIDE || height < 1 || height > LUMEQ_MAX_SIDE)
        return fprintf(stderr, "usage: embed WIDTH HEIGHT [gray] <IN >OUT\n"), 1;
    const size_t chroma = (size_t)((width + 1) / 2) * ((height + 1) / 2);
    const size_t size = (size_t)width * height + (gray ? 0 : 2 * chroma);

    char why[256];
    LumeqEqualizer *eq;
    if (lumeq_create(&eq, NULL, why, sizeof(why)) < 0)
        return fprintf(stderr, "embed: %s\n", why), 1;
    unsigned char *in = lumeq_alloc_host(lumeq_get_context(eq), size),
                  *out = lumeq_alloc_host(lumeq_get_context(eq), size);
    int ret = in && out ? 0 : LUMEQ_ERR_MEMORY;
    for (int64_t n = 0; ret == 0 && fread(in, size, 1, stdin) == 1; n++) {
        LumeqFrame frame = {.time = n * FRAME_TIME};
        frame.in = image_at(in, width, height, gray);
        frame.out = image_at(out, width, height, gray);
        ret = lumeq_process(eq, &frame, NULL);
        if (ret == 0 && fwrite(out, size, 1, stdout) != 1)
            break;
    }
    if (ret < 0)
        fprintf(stderr, "embed: %s %s\n", lumeq_error_string(ret), lumeq_last_error(eq));
    lumeq_free_host(lumeq_get_context(eq), in);
    lumeq_free_host(lumeq_get_context(eq), out);
    lumeq_destroy(&eq);
    return ret < 0 || ferror(stdin) || ferror(stdout) || fflush(stdout) != 0;
}
