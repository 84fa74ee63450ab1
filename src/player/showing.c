#include "player/player_state.h"

/* How the mean of times follows the last one. */
#define TIMING_WEIGHT 0.1

/* Uploading a frame is begun this much earlier than it usually takes. */
#define LEAD_US 2000

#define HURRY_US 300000
#define HURRY_ENOUGH_US 30000

static void note_time(double *mean, double us)
{
    *mean += (*mean > 0 ? TIMING_WEIGHT : 1) * (us - *mean);
}

static void note_timings(Player *p)
{
    const EqualizedFrame *f = p->shown.frame;
    note_time(&p->measured.timings.decode, f->decoded.decode_us);
    note_time(&p->measured.timings.upload, f->stats.upload_us);
    note_time(&p->measured.timings.equalize, f->stats.equalize_us);
    note_time(&p->measured.timings.download, f->stats.download_us);
    note_time(&p->measured.timings.fill, p->shown.view_us);
}

void showing_note_view(Player *p)
{
    const Shown *s = &p->shown;
    note_time(&p->measured.timings.view, s->view_us + s->draw_us);
    note_time(&p->measured.timings.layers, s->layers_us);
    const FeedFrame *decoded = &s->frame->decoded;
    if (p->playback->paused || decoded->preview)
        return;
    const int64_t now = player_now();
    const double latency = (double)(now - decoded->decoded_at);
    if (decoded->captured_at != AV_NOPTS_VALUE)
        delay_note(&p->measured.delay, now - decoded->captured_at);
    note_time(&p->measured.timings.latency, latency);
    p->measured.totals.count++;
    p->measured.totals.run += s->frame->equalize_us;
    p->measured.totals.upload += s->view_us;
    p->measured.totals.layers += s->layers_us;
    p->measured.totals.draw += s->draw_us;
    if (s->duration > 0)
        p->measured.totals.latency += latency * p->playback->speed / (double)s->duration;
}

/* ---- one frame into the window's textures ---- */

static int upload(Player *p, ViewSide side, const AVFrame *frame, MediaError *error)
{
    char why[256];
    if (view_set_frame(p->view, side, frame, why, sizeof(why)) >= 0)
        return 0;
    return media_fail(error, MEDIA_INPUT, "%s", why);
}

int showing_update_input(Player *p, MediaError *error)
{
    const EqualizedFrame *f = p->look.compare != PLAYER_COMPARE_OFF ? p->shown.frame : NULL;
    return upload(p, VIEW_INPUT, f ? f->decoded.frame : NULL, error);
}

static int upload_both(Player *p, MediaError *error)
{
    const int ret = upload(p, VIEW_OUTPUT, p->shown.frame->out, error);
    return ret < 0 || p->look.compare == PLAYER_COMPARE_OFF ? ret : showing_update_input(p, error);
}

/* Where CUDA can bring planes to OpenGL; once that has failed, or the GPU is lost, never again. */
static int can_stay_on_device(Player *p)
{
    if (p->cuda && equalize_stage_is_lost(p->stage))
        view_cuda_give_up(p->cuda, "the CPU has taken over");
    if (p->cuda && view_cuda_failure(p->cuda)) {
        p->options.detail(view_cuda_failure(p->cuda));
        view_set_uploader(p->view, NULL);
        view_cuda_close(&p->cuda);
    }
    equalize_stage_allow_device(p->stage, p->cuda != NULL);
    return p->cuda != NULL;
}

/* By way of the host, then: the picture before stays until it is there. */
static void ask_anew(Player *p)
{
    p->shown.missing = 1;
    playback_forget_ahead(p->playback);
    equalize_stage_redo(p->stage);
}

/* Puts what is in `shown` into the textures. */
static int fill(Player *p, MediaError *error)
{
    const int64_t begin = player_now();
    const int by_cuda = can_stay_on_device(p);
    MediaError failed = {0};
    p->shown.missing = 0;
    if (p->shown.frame->on_device && !by_cuda) {
        ask_anew(p);
        return 0;
    }
    const int ret = upload_both(p, &failed);
    if (ret < 0 && p->shown.frame->on_device && !can_stay_on_device(p))
        ask_anew(p);
    else if (ret < 0)
        return media_fail(error, failed.fault, "%s", failed.text);
    const int64_t took = player_now() - begin;
    p->measured.drawing += took;
    p->shown.view_us = (double)took;
    p->dirty = 1;
    return 0;
}

int showing_put_on(Player *p, int64_t due, MediaError *error)
{
    EqualizedFrame *next = playback_take(p->playback);
    player_drop_shown(p);
    p->shown = (Shown){
        .frame = next,
        .position = next->decoded.position,
        .duration = next->decoded.duration,
        .due = due,
    };
    equalize_stage_shown(p->stage, next);
    const int ret = fill(p, error);
    if (ret >= 0)
        note_timings(p);
    return ret;
}

/* Settings have changed since it was shown. */
int showing_put_on_anew(Player *p, MediaError *error)
{
    EqualizedFrame *anew = p->playback->anew;
    p->playback->anew = NULL;
    if (!anew || !p->shown.frame || p->shown.frame->number != anew->number) {
        equalized_frame_free(&anew);
        return 0;
    }
    equalized_frame_free(&p->shown.frame);
    p->shown.frame = anew;
    return fill(p, error);
}

/* ---- which frame, and when ---- */

/* What comes first after a start is shown at once: a preview, then the frame that was asked for. */
int showing_show_first(Player *p, int64_t now, MediaError *error)
{
    const int preview = p->playback->ahead[0]->decoded.preview;
    if (!preview)
        playback_arrived(p->playback, now);
    const int ret = showing_put_on(p, now, error);
    if (ret >= 0 && !preview && p->playback->start.before)
        status_say_frame(p);
    if (ret >= 0 && !preview && p->wanted.steps_back) {
        p->wanted.steps_back--;
        commands_step_back(p);
    }
    return ret;
}

static void drop_first(Player *p)
{
    EqualizedFrame *frame = playback_take(p->playback);
    equalized_frame_free(&frame);
}

/* The decoder leaves out what it can while frames come this late, until they nearly do not. */
static void hurry_if_late(Player *p, int64_t lateness)
{
    if (lateness > HURRY_US)
        video_feed_hurry(p->playback->feed, 1);
    else if (lateness < HURRY_ENOUGH_US)
        video_feed_hurry(p->playback->feed, 0);
}

static int advance(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    Playback *b = p->playback;
    const int64_t lead = (int64_t)p->measured.timings.fill + LEAD_US;
    int64_t until, due;
    SyncAction action;
    do {
        const int ret = playback_fetch(b, playback_is_late(b, lead, now) ? 2 : 1, error);
        if (ret < 0)
            return ret;
        action = playback_decide(b, lead, now, &until, &due);
        if (action == SYNC_DROP)
            drop_first(p);
    } while (action == SYNC_DROP);
    if (action == SYNC_WAIT) {
        *wait = FFMIN(*wait, until);
        return 0;
    }
    hurry_if_late(p, now - due);
    return showing_put_on(p, due, error);
}

/* ---- the end ---- */

/* The last frame stays for as long as it lasts, and until the sound has ended, too, unless only a
 * part of the input was asked for. */
static int is_over(Player *p, int64_t now)
{
    Playback *b = p->playback;
    if (b->paused)
        return 0;
    if (b->pending || !p->shown.frame) /* there is no frame where it was asked for one */
        return 1;
    if (!video_feed_is_part(b->feed) && !playback_is_silent(b, now))
        return 0;
    return playback_time(b, now) >= p->shown.position + p->shown.duration;
}

static void end(Player *p, int64_t now)
{
    p->ended = 1;
    p->over = !p->options.keep_open || !p->shown.frame;
    if (p->over)
        return;
    playback_pause(p->playback, 1, p->shown.position, now);
    status_say(p, playback_can_seek(p->playback) ? "The end; Space plays it again" : "The end");
}

static void end_or_loop(Player *p, int64_t now)
{
    Playback *b = p->playback;
    if (!is_over(p, now) || p->dropped.playback) /* that is about to take its place */
        return;
    if (source_is_still(b->source) && p->shown.frame) { /* a picture is to be looked at */
        playback_pause(b, 1, p->shown.position, now);
        return;
    }
    if (!p->wanted.loop || !playback_can_seek(b) || b->pending) {
        end(p, now);
        return;
    }
    const FeedStart start = {.position = FFMAX(p->options.from_us, 0)};
    p->wanted.steps = p->wanted.steps_back = 0;
    subtitles_reset(p->layers.subtitles);
    playback_start(b, &start);
}

int showing_run(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    Playback *b = p->playback;
    if (b->source->live)
        return live_run(p, now, error);
    if (b->paused || b->pending)
        equalize_stage_set_late(p->stage, INT64_MIN, INT64_MIN);
    else
        playback_tell_late(b, now);
    int ret = playback_fetch(b, 1, error);
    if (ret >= 0)
        ret = showing_put_on_anew(p, error);
    if (ret < 0)
        return ret;
    if (p->shown.frame && !p->shown.drawn &&
        !p->shown.missing) { /* the one before is still on the screen */
        *wait = FFMIN(*wait, FFMAX(p->shown.due - now, 0));
        return 0;
    }
    if (!b->ahead_count) {
        if (b->ended)
            end_or_loop(p, now);
        return 0;
    }
    if (b->pending)
        return showing_show_first(p, now, error);
    if (!b->paused)
        return advance(p, now, wait, error);
    if (!p->wanted.steps)
        return 0;
    p->wanted.steps--;
    ret = showing_put_on(p, now, error);
    if (ret >= 0)
        status_say_frame(p);
    return ret;
}
