/*
 * Equalizes a film in two passes. The first measures all frames; a history with a lookahead turns
 * the measures into curves. The second applies the curves. This way, curves change exactly at cuts,
 * and fades stay fades. Files are YUV4MPEG2, 4:2:0, 8 bits per sample.
 *   ffmpeg -i in.mkv -pix_fmt yuv420p in.y4m && two_pass in.y4m out.y4m
 *   cc two_pass.c -o two_pass $(pkg-config --cflags --libs lumeq)
 */
#include <lumeq/lumeq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKAHEAD INT64_C(1000000000) /* nanoseconds */
#define HEADER 256

/* The input film and the layout of its frames in memory. */
typedef struct Film {
    FILE *file;
    char header[HEADER];
    int width, height;
    int64_t frame_time; /* nanoseconds */
    LumeqImage image;
    unsigned char *memory;
    size_t size; /* of a frame */
} Film;

/* State that both passes share. */
typedef struct Work {
    LumeqContext *context;
    LumeqHistory *history;
    LumeqMeasure *measure;
    LumeqCurve **curves;
    int64_t count, room;
} Work;

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "two_pass: %s: %s\n", what, why);
    return -1;
}

static int set_planes(Film *f, LumeqImage *image, unsigned char **memory)
{
    const int chroma_width = (f->width + 1) / 2, chroma_height = (f->height + 1) / 2;
    const size_t luma = (size_t)f->width * f->height, chroma = (size_t)chroma_width * chroma_height;
    *image = (LumeqImage){
        .width = f->width, .height = f->height, .depth = 8, .chroma_x = 1, .chroma_y = 1};
    f->size = luma + 2 * chroma;
    *memory = malloc(f->size);
    for (int i = 0; i < 3 && *memory; i++) {
        image->plane[i] = *memory + (i ? luma + (size_t)(i - 1) * chroma : 0);
        image->stride[i] = i ? chroma_width : f->width;
    }
    return *memory ? 0 : fail("a frame", "out of memory");
}

/* Reads a header such as "YUV4MPEG2 W640 H480 F25:1 C420jpeg". */
static int open_film(Film *f, const char *path)
{
    long rate = 25, scale = 1;
    f->file = fopen(path, "rb");
    if (!f->file || !fgets(f->header, HEADER, f->file) || strncmp(f->header, "YUV4MPEG2 ", 10) != 0)
        return fail(path, "not a YUV4MPEG2 file");
    /* C420jpeg, C420mpeg2 and C420paldv have 8 bits; C420p10 to C420p16 have more. */
    for (const char *at = strchr(f->header, ' '); at; at = strchr(at + 1, ' ')) {
        if (at[1] == 'W')
            f->width = atoi(at + 2);
        else if (at[1] == 'H')
            f->height = atoi(at + 2);
        else if (at[1] == 'F')
            (void)sscanf(at + 2, "%ld:%ld", &rate, &scale);
        else if (at[1] == 'C' && (strncmp(at + 2, "420", 3) != 0 || at[6] == '1'))
            return fail(path, "not 4:2:0 with 8 bits");
    }
    if (f->width < 1 || f->width > LUMEQ_MAX_SIDE || f->height < 1 || f->height > LUMEQ_MAX_SIDE ||
        rate < 1 || scale < 1)
        return fail(path, "no valid size or frame rate");
    f->frame_time = (int64_t)(1e9 * (double)scale / (double)rate);
    return set_planes(f, &f->image, &f->memory);
}

/* Reads the next frame. Returns 0 at the end. */
static int read_frame(Film *f)
{
    char line[HEADER];
    return fgets(line, sizeof(line), f->file) && strncmp(line, "FRAME", 5) == 0 &&
           fread(f->memory, f->size, 1, f->file) == 1;
}

/* Takes all ready curves. Returns 0, or -1. */
static int take_curves(Work *w)
{
    LumeqCurve *curve;
    int ret;
    while ((ret = lumeq_history_get(w->history, &curve)) == 0) {
        if (w->count == w->room) {
            const int64_t room = w->room ? 2 * w->room : 256;
            LumeqCurve **more = realloc(w->curves, (size_t)room * sizeof(LumeqCurve *));
            if (!more) {
                lumeq_curve_unref(&curve);
                return fail("the curves", "out of memory");
            }
            w->curves = more;
            w->room = room;
        }
        w->curves[w->count++] = curve;
    }
    return ret == LUMEQ_ERR_AGAIN || ret == LUMEQ_ERR_END ? 0
                                                          : fail("plan", lumeq_last_error(NULL));
}

static int measure_all(Work *w, Film *f)
{
    for (int64_t n = 0; read_frame(f); n++) {
        const LumeqMoment moment = {
            .number = n, .time = n * f->frame_time, .duration = f->frame_time};
        if (lumeq_measure(w->context, &w->measure, NULL, &f->image, NULL, NULL) < 0 ||
            lumeq_history_put(w->history, w->measure, &moment) < 0)
            return fail("measure", lumeq_last_error(NULL));
        if (take_curves(w) < 0)
            return -1;
    }
    if (lumeq_history_put(w->history, NULL, NULL) < 0)
        return fail("measure", lumeq_last_error(NULL));
    return take_curves(w);
}

static int apply_all(Work *w, Film *f, FILE *to)
{
    LumeqImage out;
    unsigned char *memory = NULL;
    int ret = set_planes(f, &out, &memory);
    if (ret == 0 && fputs(f->header, to) < 0)
        ret = fail("output", "cannot be written");
    for (int64_t n = 0; ret == 0 && n < w->count && read_frame(f); n++) {
        if (lumeq_apply(w->context, w->curves[n], &f->image, NULL, 0, &out, NULL) < 0)
            ret = fail("apply", lumeq_last_error(NULL));
        else if (fputs("FRAME\n", to) < 0 || fwrite(memory, f->size, 1, to) != 1)
            ret = fail("output", "cannot be written");
    }
    free(memory);
    return ret;
}

static int run(Work *w, Film *f, const char *output)
{
    char why[256];
    if (lumeq_context_create(&w->context, NULL, why, sizeof(why)) < 0)
        return fail("no backend", why);
    const int ret = lumeq_history_create(&w->history, NULL, LOOKAHEAD);
    if (ret < 0)
        return fail(lumeq_error_string(ret), lumeq_last_error(NULL));
    if (measure_all(w, f) < 0)
        return -1;
    rewind(f->file);
    FILE *to = fgets(f->header, HEADER, f->file) ? fopen(output, "wb") : NULL;
    if (!to)
        return fail(output, "cannot be opened");
    const int applied = apply_all(w, f, to);
    return fclose(to) == 0 ? applied : fail(output, "cannot be written");
}

int main(int argc, char **argv)
{
    Film film = {0};
    Work work = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: two_pass IN.y4m OUT.y4m\n");
        return 1;
    }
    const int ret = open_film(&film, argv[1]) < 0 ? -1 : run(&work, &film, argv[2]);
    for (int64_t n = 0; n < work.count; n++)
        lumeq_curve_unref(&work.curves[n]);
    free(work.curves);
    lumeq_measure_free(&work.measure);
    lumeq_history_destroy(&work.history);
    lumeq_context_destroy(&work.context);
    free(film.memory);
    if (film.file)
        fclose(film.file);
    return ret < 0;
}
