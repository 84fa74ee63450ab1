/* Prints a hash of 40 equalized frames for each mode. Every system must print the same hashes. */
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 323, HEIGHT = 241, FRAMES = 40, SIZE = WIDTH * HEIGHT };

/* Draws a noisy, moving dark gradient, and in the second half of the clip a brighter pattern. */
static void draw(unsigned char *to, int frame, unsigned *seed)
{
    for (int i = 0; i < SIZE; i++) {
        *seed = *seed * 1664525 + 1013904223;
        const int x = i % WIDTH + frame, y = i / WIDTH;
        to[i] = (unsigned char)((frame < FRAMES / 2 ? 16 + (x + y) / 9 : 90 + (x ^ y) % 64) +
                                (*seed >> 29));
    }
}

int main(void)
{
    static const struct {
        const char *name;
        LumeqMode mode;
    } modes[] = {{"global", LUMEQ_MODE_GLOBAL},
                 {"clahe", LUMEQ_MODE_CLAHE},
                 {"haze", LUMEQ_MODE_HAZE},
                 {"stretch", LUMEQ_MODE_STRETCH}};
    static unsigned char pictures[2][3][SIZE], out[3][SIZE];
    for (int m = 0; m < 4; m++) {
        LumeqEqualizer *eq;
        LumeqParams params = {.size = sizeof(params)};
        char why[256];
        unsigned seed = 1;
        unsigned long long hash = 14695981039346656037u; /* FNV-1a */
        lumeq_params_default(&params);
        params.mode = modes[m].mode;
        const LumeqConfig config = {
            .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .threads = 3};
        if (lumeq_create(&eq, &config, why, sizeof(why)) < 0 || lumeq_set_params(eq, &params) < 0)
            return fprintf(stderr, "%s\n", why), 1;
        LumeqImage previous = {.width = 0};
        for (int i = 0; i < FRAMES; i++) {
            LumeqFrame frame = {.size = sizeof(frame), .time = i * 40000000ll};
            frame.in = (LumeqImage){.width = WIDTH, .height = HEIGHT, .depth = 8};
            for (int p = 0; p < 3; p++) {
                draw(pictures[i % 2][p], i, &seed);
                frame.in.plane[p] = pictures[i % 2][p];
                frame.in.stride[p] = WIDTH;
            }
            frame.out = frame.in;
            for (int p = 0; p < 3; p++)
                frame.out.plane[p] = out[p];
            if (i)
                frame.previous = &previous;
            previous = frame.in;
            if (lumeq_process(eq, &frame, NULL) < 0)
                return fprintf(stderr, "%s\n", lumeq_last_error(eq)), 1;
            for (int k = 0; k < 3 * SIZE; k++)
                hash = (hash ^ out[k / SIZE][k % SIZE]) * 1099511628211u;
        }
        printf("%s %016llx\n", modes[m].name, hash);
        lumeq_destroy(&eq);
    }
    return 0;
}
