#!/usr/bin/env python3
"""Writes opencv_oracle.h and opencv_clahe_oracle.h: the results of OpenCV's equalizeHist
and CLAHE for the pictures of pictures.h.

Building and testing lumeq does not need this script. The headers in the repository were made by:

    pip install 'opencv-python-headless==4.14.0.94' numpy
    ./opencv_oracle.py > opencv_oracle.h
    ./opencv_oracle.py clahe > opencv_clahe_oracle.h
"""
import sys

import cv2
import numpy

PICTURES = [
    # kind, seed, width, height
    ("NOISE", 1, 65, 33),
    ("NOISE", 2, 640, 361),
    ("RAMP", 0, 4096, 3),
    ("DIAGONAL", 0, 640, 361),
    ("DIAGONAL", 0, 33, 65),
    ("TWO_LEVEL", 101 << 8 | 100, 64, 48),
    ("TWO_LEVEL", 3 << 8 | 250, 31, 7),
    ("ONE_PIXEL", 12 << 8 | 200, 640, 361),
    ("ONE_PIXEL", 255 << 8 | 254, 19, 5),
    ("FLAT", 77, 17, 9),
    ("FLAT", 0, 65, 33),
    ("FLAT", 255, 8, 8),
    ("EXTREMES", 3, 127, 11),
    ("NARROW", 4, 333, 77),
    ("DARK", 5, 640, 361),
    ("DARK", 6, 65, 33),
    ("HALVES", 0, 73, 7),
    ("HALVES", 0, 511, 7),
    ("NOISE", 7, 1, 1),
    ("NOISE", 8, 1, 7),
    ("NOISE", 9, 7, 1),
]

CLAHE_PICTURES = [
    # kind, seed, width, height
    ("NOISE", 21, 1, 1),
    ("NOISE", 22, 7, 5),
    ("DARK", 23, 1, 40),
    ("DARK", 24, 40, 1),
    ("NOISE", 25, 3, 100),
    ("DARK", 26, 17, 13),
    ("FLAT", 77, 101, 77),
    ("DARK", 29, 640, 361),
    ("NOISE", 30, 640, 361),
    ("DIAGONAL", 0, 640, 360),
]
# clip limit, columns of tiles, rows of tiles
CLAHE_SETTINGS = [
    (0.0, 8, 8),
    (2.0, 8, 8),
    (3.3, 7, 2),
    (4.0, 16, 16),
    (40.0, 1, 16),
]


def splitmix(seed, index):
    z = numpy.uint64(seed) + (index + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def picture(kind, seed, width, height):
    y, x = numpy.mgrid[0:height, 0:width]
    i = y * width + x
    r = splitmix(seed, i.astype(numpy.uint64))
    bits = lambda shift, mask: (r >> numpy.uint64(shift) & numpy.uint64(mask)).astype(numpy.int64)
    k = i // max(width * height // 511, 1)
    first, second = seed & 255, seed >> 8 & 255
    codes = {
        "FLAT": lambda: i * 0 + first,
        "TWO_LEVEL": lambda: numpy.where(bits(0, 7), first, second),
        "ONE_PIXEL": lambda: numpy.where(i == width * height // 2, second, first),
        "RAMP": lambda: x * 256 // width,
        "DIAGONAL": lambda: (x + y) * 255 // (width + height - 1),
        "NOISE": lambda: bits(0, 255),
        "EXTREMES": lambda: bits(0, 1) * 255,
        "NARROW": lambda: 100 + (r % numpy.uint64(9)).astype(numpy.int64),
        "DARK": lambda: sum(bits(8 * k, 31) for k in range(6)) // 3 + 4,
        "HALVES": lambda: numpy.where(k < 2, k, numpy.where(k < 510, k // 2 + 1, 255)),
    }
    return codes[kind]().astype(numpy.uint8)


def fnv(image):
    value = 0xCBF29CE484222325
    for byte in image.tobytes():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def write_equalize_hist():
    print(f"""/*
 * Made by opencv_oracle.py with OpenCV's equalizeHist: do not edit.
 * For each picture: hashes (FNV-1a) of input and output.
 */
/* clang-format off */
static const struct {{
    Picture picture;
    uint64_t seed;
    int width, height;
    uint64_t in_hash, out_hash;
}} opencv_oracle[] = {{""")
    for kind, seed, width, height in PICTURES:
        image = picture(kind, seed, width, height)
        out = cv2.equalizeHist(image)
        print(f"    {{PICTURE_{kind}, {seed}, {width}, {height}, "
              f"0x{fnv(image):016X}, 0x{fnv(out):016X}}},")
    print("};\n/* clang-format on */")


def write_clahe():
    print("""/*
 * Made by opencv_oracle.py with OpenCV's CLAHE: do not edit.
 * For each picture and setting: hashes (FNV-1a) of input and output.
 */
#include "pictures.h"

/* clang-format off */
static const struct {
    Picture picture;
    uint64_t seed;
    int width, height;
    double clip;
    int tiles_x, tiles_y;
    uint64_t in_hash, out_hash;
} opencv_clahe_oracle[] = {""")
    for kind, seed, width, height in CLAHE_PICTURES:
        image = picture(kind, seed, width, height)
        for clip, tiles_x, tiles_y in CLAHE_SETTINGS:
            out = cv2.createCLAHE(clip, (tiles_x, tiles_y)).apply(image)
            print(f"    {{PICTURE_{kind}, {seed}, {width}, {height}, {clip}, {tiles_x}, {tiles_y}, "
                  f"0x{fnv(image):016X}, 0x{fnv(out):016X}}},")
    print("};\n/* clang-format on */")


(write_clahe if sys.argv[1:] == ["clahe"] else write_equalize_hist)()
