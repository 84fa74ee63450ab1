/* Describes a decoded frame in plain numbers, for display. */
#ifndef LUMEQ_MEDIA_PICTURE_FORMAT_H
#define LUMEQ_MEDIA_PICTURE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct AVFrame;

typedef enum PictureTransfer {
    PICTURE_SDR = 0, /* shown without conversion */
    PICTURE_PQ,      /* SMPTE ST 2084 */
    PICTURE_HLG,     /* ARIB STD-B67 */
} PictureTransfer;

/*
 * The rotation from the stored to the displayed picture: quarter turns, perhaps with a flip. A step
 * (x, y) in the stored picture is the step (xx * x + xy * y, yx * x + yy * y) on the screen; x
 * points to the right and y down. Each factor is -1, 0 or 1.
 */
typedef struct PictureTurn {
    int xx, xy, yx, yy;
} PictureTurn;

/* Sizes in samples. */
typedef struct PicturePlane {
    int width, height;
    int components; /* 2: each sample is a pair of Cb and Cr; else 1 */
} PicturePlane;

/* Plane 0 is luma; Cb and Cr follow in separate planes or one interleaved plane. */
typedef struct PictureFormat {
    int width, height;
    int planes; /* 1 (gray) to 3, without alpha */
    PicturePlane plane[3];
    int bytes;        /* bytes per sample, 1 or 2 (little-endian) */
    int depth, shift; /* a sample holds code << shift */
    int sub_x, sub_y; /* luma columns and rows per chroma sample */
    int cr_first;     /* Cr comes before Cb */
    double chroma_x;  /* column of a chroma sample in its luma block: 0 left, 0.5 centre, 1 right */
    double chroma_y;  /* row of a chroma sample in its luma block: 0 top, 0.5 centre, 1 bottom */
    double kr, kb;    /* matrix: weights of red and blue in luma */
    int full_range;   /* 0: limited range (at 8 bits, luma 16..235 and chroma 16..240) */
    PictureTransfer transfer;
    int wide_gamut; /* BT.2020 primaries; all others are shown unconverted */
    double peak;    /* in nits: the peak that a PQ stream declares, else 1000 */
    double aspect;  /* pixel aspect: width / height */
    bool has_turn;  /* the frame has its own display matrix */
    PictureTurn turn;
} PictureFormat;

/*
 * Describes planar and semi-planar YUV and gray of 8 to 16 bits. Defaults for unspecified
 * properties: BT.709 from 720 lines on, else BT.601; limited range, but full for gray and yuvj;
 * chroma at the left; BT.2020 primaries for PQ and HLG; a peak of 1000 nits. Returns 0. For other
 * pixel formats, returns -1 and writes the reason to `why`.
 */
int picture_format(PictureFormat *format, const struct AVFrame *frame, char *why, size_t size);

/* Byte offsets in the stored picture, for access in display order. */
typedef struct PictureSteps {
    ptrdiff_t first;       /* offset of the pixel displayed at the top left */
    ptrdiff_t column, row; /* from a pixel to the pixel displayed right of it, and below it */
} PictureSteps;

/* Computes the steps for a stored picture of this size, with `pixel` bytes per pixel and `line`
 * bytes per row. */
PictureSteps picture_steps(PictureTurn turn, int width, int height, ptrdiff_t pixel,
                           ptrdiff_t line);

/* The inverse rotation. */
PictureTurn picture_turn_back(PictureTurn turn);

/* The identity. */
PictureTurn picture_upright(void);

/* The rotation nearest to an FFmpeg display matrix; the identity for an invalid matrix. */
PictureTurn picture_turn(const int32_t matrix[9]);

/* True if picture_turn() matches the matrix to within a degree, or the matrix is invalid. */
bool picture_turn_is_whole(const int32_t matrix[9]);

#endif
