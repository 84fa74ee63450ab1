/* The command line: one table that parsing and help are made from. */
#ifndef LUMEQ_APP_OPTIONS_H
#define LUMEQ_APP_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "lumeq/lumeq.h"

#define MAX_ENCODER_OPTIONS 64

/* Strings point into argv. -1 in a number, NULL in a text: not given. */
typedef struct Options {
    const char *input;
    const char *output;
    int null_output, overwrite;

    int mode, reference, scene_cut, range, chroma, dither, bars;
    double strength, clip, smooth;

    int backend;
    int64_t device, threads;

    int64_t from_us, to_us, frames, max_pixels;

    const char *format, *vcodec, *preset, *pixel_format;
    double crf;
    int64_t bitrate;
    const char *encoder_options[MAX_ENCODER_OPTIONS + 1]; /* NULL at the end */
    int acodec;

    const char *stats;
    int progress;
    int quiet, verbose;
    int help, version, list_gpus;
} Options;

/* Fills the defaults, then what argv says. 0, or -1 with one sentence in `text`. */
int options_parse(Options *options, int argc, char **argv, char *text, size_t text_size);

LumeqParams options_params(const Options *options);

void options_print_help(FILE *file);

#endif
