#include "panel/ass_image.h"

/* The bounding box of an image's visible pixels; {0}: none. */
static Rect ink_of(const ASS_Image *image)
{
    int left = image->w, top = image->h, right = -1, bottom = -1;
    if ((image->color & 0xFF) == 0xFF) /* transparent */
        return (Rect){0};
    for (int y = 0; y < image->h; y++) {
        const uint8_t *row = image->bitmap + (ptrdiff_t)y * image->stride;
        int first = 0, last = image->w - 1;
        while (first < image->w && !row[first])
            first++;
        if (first == image->w)
            continue;
        while (!row[last])
            last--;
        left = first < left ? first : left;
        right = last > right ? last : right;
        top = y < top ? y : top;
        bottom = y;
    }
    return right < 0 ? (Rect){0}
                     : (Rect){image->dst_x + left, image->dst_y + top, right - left + 1,
                              bottom - top + 1};
}

Rect ass_images_ink(const ASS_Image *image)
{
    Rect all = {0};
    for (; image; image = image->next) {
        const Rect ink = ink_of(image);
        if (ink.width)
            all = all.width ? canvas_around(all, ink) : ink;
    }
    return all;
}

static void blend(const Canvas *canvas, int left, int top, const ASS_Image *image)
{
    const int opacity = 255 - (int)(image->color & 0xFF);
    for (int y = 0; y < image->h; y++) {
        const uint8_t *row = image->bitmap + (ptrdiff_t)y * image->stride;
        for (int x = 0; x < image->w; x++)
            canvas_blend(canvas, left + x, top + y, image->color >> 8, row[x] * opacity / 255);
    }
}

void ass_images_blend(const Canvas *canvas, int x, int y, const ASS_Image *image)
{
    for (; image; image = image->next)
        blend(canvas, image->dst_x - x, image->dst_y - y, image);
}
