/* A program that embeds the library; valid C and C++. Prints the library's version. */
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    unsigned char luma[64], out[64];
    LumeqEqualizer *eq;
    LumeqFrame frame;
    memset(luma, 77, sizeof(luma));
    memset(&frame, 0, sizeof(frame));
    frame.in.plane[0] = luma;
    frame.in.stride[0] = frame.in.width = frame.in.height = frame.in.depth = 8;
    frame.out = frame.in;
    frame.out.plane[0] = out;
    if (lumeq_create(&eq, NULL, NULL, 0) < 0 || lumeq_submit(eq, &frame) < 0)
        return 1;
    lumeq_flush(eq);
    if (lumeq_receive(eq, &frame, NULL) < 0 || memcmp(luma, out, sizeof(out)) != 0)
        return 2;
    lumeq_destroy(&eq);
    printf("%d.%d.%d\n", lumeq_version() / 1000000, lumeq_version() / 1000 % 1000,
           lumeq_version() % 1000);
    return 0;
}
