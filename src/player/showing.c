#include "player/showing.h"

#include <stdlib.h>

/* Weight of the newest time in a running mean. */
#define TIMING_WEIGHT 0.1

/* Margin added to the mean upload time. */
#define LEAD_US 2000

/* Frames are drawn this long before they are due, because the swap waits for vsync. */
#define DRAW_LEAD_US 1000

/* If frames are later than HURRY_US, the decoder skips non-reference frames until frames are less
 * late than HURRY_ENOUGH_US. */
#define HURRY_US 300000
#define HURRY_ENOUGH_US 30000

/* The frame rate is measured over about one second. */
#define RATE_US 1000000

struct Showing {
    EqualizeStage *stage;
    Screen *screen;
    Frame *frame; /* same as shown.frame; owned */
    Shown shown;
    bool upload_failed; /* the frame will be equalized again */
    int64_t due;        /* when to draw the frame */
    int64_t rate_since, rate_count;
};

Showing *showing_create(EqualizeStage *stage, Screen *screen)
{
    Showing *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->stage = stage;
    s->screen = screen;
    s->shown.measured.offset = AV_NOPTS_VALUE;
    return s;
}

const Shown *showing_shown(const Showing *s)
{
    return &s->shown;
}

/* ---- measurements ---- */

static void note_time(double *mean, double us)
{
    *mean += (*mean > 0 ? TIMING_WEIGHT : 1) * (us - *mean);
}

static void note_drawing(Showing *s, const Playback *b, int64_t now)
{
    const ScreenState *screen = screen_state(s->screen);
    const Decoded *decoded = &s->frame->decoded;
    Timings *timings = &s->shown.measured.timings;
    note_time(&timings->draw, screen->draw_us);
    note_time(&timings->layers, screen->layers_us);
    if (playback_state(b)->paused || decoded->preview)
        return;
    if (decoded->captured_at != AV_NOPTS_VALUE)
        delay_note(&s->shown.measured.delay, now - decoded->captured_at);
    note_time(&timings->run, s->frame->equalize_us);
    note_time(&timings->latency, (double)(now - decoded->decoded_at));
}

static void note_rate(Showing *s, int64_t now)
{
    if (!s->rate_since)
        s->rate_since = now;
    s->rate_count++;
    if (now - s->rate_since < RATE_US)
        return;
    s->shown.measured.rate = (double)s->rate_count * 1e6 / (double)(now - s->rate_since);
    s->rate_since = now;
    s->rate_count = 0;
}

void showing_mark_drawn(Showing *s, const Playback *b, int64_t now)
{
    const int64_t heard = playback_heard(b, now);
    s->shown.drawn = 1;
    s->shown.count++;
    note_drawing(s, b, now);
    note_rate(s, now);
    if (heard != AV_NOPTS_VALUE)
        s->shown.measured.offset = s->shown.position - heard;
}

/* ---- one frame on its way to the screen ---- */

static bool is_fresh(const Showing *s)
{
    return s->frame && !s->shown.drawn && !s->upload_failed;
}

bool showing_is_due(const Showing *s, int64_t now)
{
    return is_fresh(s) && now >= s->due - DRAW_LEAD_US;
}

static void set_frame(Showing *s, Frame *frame)
{
    frame_free(&s->frame);
    s->shown.frame = s->frame = frame;
}

void showing_drop(Showing *s)
{
    set_frame(s, NULL);
    s->shown.drawn = 0;
    equalize_stage_shown(s->stage, NULL);
}

/* Uploads the frame. If the screen cannot take the frame from the GPU, it is equalized again. */
static int upload(Showing *s, Playback *b, MediaError *error)
{
    const int lost = equalize_stage_is_lost(s->stage);
    const int ret = screen_upload(s->screen, s->frame, lost, error);
    equalize_stage_allow_device(s->stage, screen_takes_device(s->screen));
    s->upload_failed = ret > 0;
    if (!s->upload_failed)
        return ret;
    playback_drop_ahead(b);
    equalize_stage_redo(s->stage);
    return 0;
}

static int show_next(Showing *s, Playback *b, int64_t due, MediaError *error)
{
    Frame *next = playback_take(b);
    showing_drop(s);
    set_frame(s, next);
    s->shown.position = next->decoded.position;
    s->shown.duration = next->decoded.duration;
    s->due = due;
    equalize_stage_shown(s->stage, next);
    const int ret = upload(s, b, error);
    if (ret < 0)
        return ret;
    Timings *t = &s->shown.measured.timings;
    note_time(&t->decode, next->decoded.decode_us);
    note_time(&t->equalize, next->stats.equalize_us);
    note_time(&t->upload, screen_state(s->screen)->upload_us);
    return ret;
}

/* Once the current frame has been equalized again with other settings, shows the result. */
static int show_redone(Showing *s, Playback *b, MediaError *error)
{
    Frame *redone = playback_take_redone(b);
    if (!redone || !s->frame || s->frame->number != redone->number) {
        frame_free(&redone);
        return 0;
    }
    set_frame(s, redone);
    return upload(s, b, error);
}

/* ---- which frame, and when ---- */

/* After a start, shows the preview at once, then the requested frame. */
static int show_first(Showing *s, Playback *b, int64_t now, MediaError *error)
{
    const int preview = playback_next(b)->decoded.preview;
    if (!preview)
        playback_arrived(b, now);
    const int ret = show_next(s, b, now, error);
    if (ret < 0 || preview)
        return ret;
    return SHOWING_ARRIVED;
}

static void drop_first(Playback *b)
{
    Frame *frame = playback_take(b);
    frame_free(&frame);
}

static int advance(Showing *s, Playback *b, int64_t now, int64_t *wait, MediaError *error)
{
    const int64_t lead = (int64_t)s->shown.measured.timings.upload + LEAD_US;
    int64_t until, due;
    SyncAction action;
    do {
        const int ret = playback_fetch(b, playback_check_late(b, lead, now) ? 2 : 1, error);
        if (ret < 0)
            return ret;
        action = playback_decide(b, lead, now, &until, &due);
        if (action == SYNC_DROP)
            drop_first(b);
    } while (action == SYNC_DROP);
    if (action == SYNC_WAIT) {
        *wait = FFMIN(*wait, until);
        return SHOWING_NOTHING;
    }
    if (now - due > HURRY_US)
        input_hurry(playback_state(b)->input, 1);
    else if (now - due < HURRY_ENOUGH_US)
        input_hurry(playback_state(b)->input, 0);
    return show_next(s, b, due, error);
}

/* True once the last frame was shown for its duration and the sound has ended. If only a part of
 * the input is played, the sound does not matter. */
static bool is_over(const Showing *s, Playback *b, int64_t now)
{
    const PlaybackState *state = playback_state(b);
    if (state->paused || !state->ended)
        return 0;
    if (state->pending || !s->frame) /* no frame at the requested position */
        return 1;
    if (!input_is_part(state->input) && !playback_is_silent(b, now))
        return 0;
    return playback_time(b, now) >= s->shown.position + s->shown.duration;
}

static int run(Showing *s, Playback *b, int step, int64_t now, int64_t *wait, MediaError *error)
{
    const PlaybackState *state = playback_state(b);
    if (state->paused || state->pending)
        equalize_stage_set_late(s->stage, INT64_MIN, INT64_MIN);
    else
        playback_update_late(b, now);
    int ret = playback_fetch(b, 1, error);
    if (ret >= 0)
        ret = show_redone(s, b, error);
    if (ret < 0)
        return ret;
    if (is_fresh(s)) { /* the current frame is not on the screen yet */
        *wait = FFMIN(*wait, FFMAX(s->due - now, 0));
        return SHOWING_NOTHING;
    }
    if (!state->ahead)
        return is_over(s, b, now) ? SHOWING_ENDED : SHOWING_NOTHING;
    if (state->pending)
        return show_first(s, b, now, error);
    if (!state->paused)
        return advance(s, b, now, wait, error);
    if (!step)
        return SHOWING_NOTHING;
    ret = show_next(s, b, now, error);
    return ret < 0 ? ret : SHOWING_STEPPED;
}

/* ---- live input: shows the newest frame at once ---- */

static int run_live(Showing *s, Playback *b, int step, int64_t now, MediaError *error)
{
    const PlaybackState *state = playback_state(b);
    const int held = state->paused && !step;
    equalize_stage_hold(s->stage, held && !state->pending);
    int ret = playback_fetch_newest(b, error);
    if (ret >= 0)
        ret = show_redone(s, b, error);
    if (ret < 0)
        return ret;
    s->shown.came = state->ahead > 0;
    if (!state->ahead)
        return playback_update_end(b, now) ? SHOWING_ENDED : SHOWING_NOTHING;
    if (state->pending)
        return show_first(s, b, now, error);
    if (!held) {
        ret = show_next(s, b, now, error);
        return ret < 0 || !step ? ret : SHOWING_STEPPED;
    }
    while (state->ahead) /* these frames would be old after the pause */
        drop_first(b);
    return SHOWING_NOTHING;
}

int showing_run(Showing *s, Playback *b, int step, int64_t now, int64_t *wait, MediaError *error)
{
    return playback_state(b)->source->live ? run_live(s, b, step, now, error)
                                           : run(s, b, step, now, wait, error);
}

void showing_free(Showing **showing)
{
    if (!*showing)
        return;
    showing_drop(*showing);
    free(*showing);
    *showing = NULL;
}
