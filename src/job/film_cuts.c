#include "job/film_cuts.h"

#include <stdlib.h>

/* Damage is noticed some frames before those that it is in come out, as many as threads decode at a
 * time, and some after. */
#define DAMAGE_MARGIN 96

/* The numbers of damaged frames, in order. */
static int find_damage(MeasureFile *file, int64_t **damaged, int64_t *count, MediaError *error)
{
    MeasureCursor cursor = {0};
    MeasuredFrame frame;
    int64_t room = 0;
    int ret;
    for (int64_t n = 0; (ret = measure_file_read(file, &cursor, &frame, NULL, error)) > 0; n++) {
        if (!frame.damaged)
            continue;
        if (*count == room) {
            room = 2 * room + 16;
            int64_t *larger = realloc(*damaged, (size_t)room * sizeof(*larger));
            if (!larger)
                return media_fail(error, MEDIA_OUTPUT, "out of memory");
            *damaged = larger;
        }
        (*damaged)[(*count)++] = n;
    }
    return ret;
}

/* The first place from `at` on that is no damaged span's. `next`: the first damaged frame that
 * matters to those that follow. */
static int64_t beyond_damage(int64_t at, const int64_t *damaged, int64_t count, int64_t *next)
{
    for (; *next < count && damaged[*next] <= at + DAMAGE_MARGIN; ++*next)
        if (damaged[*next] >= at - DAMAGE_MARGIN)
            at = damaged[*next] + DAMAGE_MARGIN + 1;
    return at;
}

/* Where stretches of the film begin, looked for from its start to its end. */
typedef struct Stretches {
    const FilmStretches *options; /* NULL: each frame is one */
    MeasureFile *file;
    MeasureCursor cursor;
    int64_t read, number; /* frames that were, and the stretch of the last one */
    int64_t found;        /* the last frame that began one */
} Stretches;

/* The first frame from `at` on that begins one, or one behind all; places do not go back. */
static int next_stretch(Stretches *s, int64_t at, int64_t *begin, MediaError *error)
{
    const FilmStretches *o = s->options;
    MeasuredFrame frame;
    *begin = at;
    while (o && s->found < at) {
        const int ret = measure_file_read(s->file, &s->cursor, &frame, NULL, error);
        if (ret <= 0) {
            *begin = INT64_MAX;
            return ret;
        }
        const int64_t us = av_rescale_q(frame.pts - o->shift, o->base, AV_TIME_BASE_Q);
        const int64_t number = o->number(us);
        if (!s->read || number != s->number)
            s->found = s->read;
        s->number = number;
        s->read++;
    }
    *begin = o ? s->found : at;
    return 0;
}

int film_cuts_make(FilmCuts *cuts, MeasureFile *file, int64_t parts, const FilmStretches *stretches,
                   MediaError *error)
{
    const int64_t frames = measure_file_count(file);
    Stretches s = {.options = stretches, .file = file};
    int64_t *damaged = NULL, count = 0, next = 0;
    if (parts > frames)
        parts = frames;
    *cuts = (FilmCuts){.first = malloc(((size_t)parts + 1) * sizeof(*cuts->first))};
    int ret = cuts->first ? find_damage(file, &damaged, &count, error)
                          : media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (ret >= 0)
        cuts->first[cuts->count++] = 0;
    for (int64_t i = 1, at = 0; ret >= 0 && i < parts; i++) {
        const int64_t wanted = i * frames / parts;
        int64_t beyond = 0;
        at = at > wanted ? at : wanted; /* all up to there has been looked at */
        do {
            beyond = beyond_damage(at, damaged, count, &next);
            ret = next_stretch(&s, beyond, &at, error);
        } while (ret >= 0 && at != beyond && at < frames);
        if (ret >= 0 && at > cuts->first[cuts->count - 1] && at < frames)
            cuts->first[cuts->count++] = at;
    }
    if (ret >= 0)
        cuts->first[cuts->count] = frames;
    free(damaged);
    return ret;
}

void film_cuts_free(FilmCuts *cuts)
{
    free(cuts->first);
    *cuts = (FilmCuts){0};
}
