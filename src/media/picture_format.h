/* What has to be known of a decoded frame to show it, in plain numbers. */
#ifndef LUMEQ_MEDIA_PICTURE_FORMAT_H
#define LUMEQ_MEDIA_PICTURE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

struct AVFrame;

typedef enum PictureTransfer {
    PICTURE_SDR = 0, /* shown as it is */
    PICTURE_PQ,      /* SMPTE ST 2084 */
    PICTURE_HLG,     /* ARIB STD-B67 */
} PictureTransfer;

/*
 * How the stored picture is turned to be shown: a whole number of quarter turns, perhaps a flip.
 * With x to the right and y down, a step (x, y) of the stored picture is the step
 * (xx * x + xy * y, yx * x + yy * y) on the screen. Each is -1, 0 or 1.
 */
typedef struct PictureTurn {
    int xx, xy, yx, yy;
} PictureTurn;

/* In samples. */
typedef struct PicturePlane {
    int width, height;
    int components; /* 1, or 2: Cb and Cr side by side */
} PicturePlane;

/* Plane 0 is luma, then come Cb and Cr, each in its plane or both in one. */
typedef struct PictureFormat {
    int width, height;
    int planes; /* 1 (gray) to 3; an alpha plane does not count */
    PicturePlane plane[3];
    int bytes;        /* of a sample, 1 or 2 (little-endian) */
    int depth, shift; /* a sample holds code << shift */
    int sub_x, sub_y; /* luma columns and rows for each of chroma */
    int cr_first;     /* Cr comes before Cb */
    double chroma_x;  /* where chroma lies among its luma columns: 0 left, 0.5 centre, 1 right */
    double chroma_y;  /* and among its rows: 0 top, 0.5 centre, 1 bottom */
    double kr, kb;    /* of the matrix: weights of red and blue in luma */
    int full_range;   /* else luma is 16..235 and chroma 16..240, of 8 bits */
    PictureTransfer transfer;
    int wide_gamut; /* primaries of BT.2020; else they are taken for the screen's */
    double peak;    /* of PQ and HLG: nits of the brightest pixel of the stream */
    double aspect;  /* of a pixel: width / height */
    int has_turn;   /* the frame itself says how it is turned */
    PictureTurn turn;
} PictureFormat;

/*
 * Planar and semi-planar YUV of 8 to 16 bits, and gray. Unspecified properties: BT.709 from 720
 * lines on, else BT.601; limited range, but for gray and the yuvj formats; chroma at the left;
 * primaries of BT.2020 for PQ and HLG; a peak of 1000 nits. 0, or -1 with a sentence that names the
 * format in `why`.
 */
int picture_format(PictureFormat *format, const struct AVFrame *frame, char *why, size_t size);

/* Where the pixels of what is shown lie in what is stored: in bytes from the first one stored to
 * the first one shown, from there to the next one to the right, and to the one below. */
typedef struct PictureSteps {
    ptrdiff_t first, column, row;
} PictureSteps;

/* Of a stored picture of that size, in bytes from one of its pixels to the next and from one of its
 * lines to the next. */
PictureSteps picture_steps(PictureTurn turn, int width, int height, ptrdiff_t pixel,
                           ptrdiff_t line);

/* The turn back. */
PictureTurn picture_turn_back(PictureTurn turn);

/* No turn at all. */
PictureTurn picture_upright(void);

/* Of a display matrix as FFmpeg has it, the nearest whole number of quarter turns. A matrix that
 * makes no sense is no turn. */
PictureTurn picture_turn(const int32_t matrix[9]);

/* Not 0: picture_turn() is all that the matrix does, but for less than a degree, or the matrix
 * makes no sense. */
int picture_turn_is_whole(const int32_t matrix[9]);

#endif
