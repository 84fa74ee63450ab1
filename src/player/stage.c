#include "player/parts.h"

/* How the mean of times follows the last one. */
#define TIMING_WEIGHT 0.1

/* Work on a frame is begun this much earlier than it usually takes. */
#define LEAD_US 2000

#define HURRY_US 300000
#define HURRY_ENOUGH_US 30000

static void note_time(double *mean, double us)
{
    *mean += (*mean > 0 ? TIMING_WEIGHT : 1) * (us - *mean);
}

static void note_timings(Player *p)
{
    const Shown *s = &p->shown;
    note_time(&p->timings.decode, s->decode_us);
    note_time(&p->timings.upload, s->measure.upload_us);
    note_time(&p->timings.equalize, s->measure.equalize_us);
    note_time(&p->timings.download, s->measure.download_us);
}

void stage_note_view(Player *p)
{
    const Shown *s = &p->shown;
    note_time(&p->timings.view, s->view_us + s->draw_us);
    note_time(&p->timings.layers, s->layers_us);
    if (p->playback.paused || s->preview)
        return;
    const int64_t now = player_now();
    const double latency = (double)(now - s->decoded_at);
    if (s->captured_at != AV_NOPTS_VALUE)
        live_note_delay(&p->delay, now - s->captured_at);
    note_time(&p->timings.latency, latency);
    p->totals.count++;
    p->totals.run += s->equalize_us;
    p->totals.upload += s->view_us;
    p->totals.layers += s->layers_us;
    p->totals.draw += s->draw_us;
    if (s->duration > 0)
        p->totals.latency += latency * p->playback.speed / (double)s->duration;
}

/* ---- one frame into the window's textures ---- */

static int upload(Player *p, ViewSide side, const AVFrame *frame, MediaError *error)
{
    char why[256];
    if (view_set_frame(p->view, side, frame, why, sizeof(why)) >= 0)
        return 0;
    return media_fail(error, MEDIA_INPUT, "%s", why);
}

int stage_update_input(Player *p, MediaError *error)
{
    const int wanted = p->compare != PLAYER_COMPARE_OFF && p->shown.in;
    return upload(p, VIEW_INPUT, wanted ? p->shown.in : NULL, error);
}

static int upload_both(Player *p, MediaError *error)
{
    const int ret = upload(p, VIEW_OUTPUT, p->shown.out, error);
    return ret < 0 || p->compare == PLAYER_COMPARE_OFF ? ret : stage_update_input(p, error);
}

static int equalize(Player *p, int again, int on_device, MediaError *error)
{
    AVFrame *out;
    const int64_t begin = player_now();
    const int ret = p->equalizer.run(p->equalizer.opaque, p->shown.in, again, on_device, &out,
                                     &p->shown.measure, error);
    if (ret < 0)
        return ret;
    av_frame_free(&p->shown.out);
    p->shown.out = out;
    p->shown.equalize_us = (double)(player_now() - begin);
    return 0;
}

/* Where CUDA can bring planes to OpenGL; once that has failed, or the GPU is lost, never again. */
static int can_stay_on_device(Player *p)
{
    if (p->cuda && p->equalizer.lost(p->equalizer.opaque))
        view_cuda_give_up(p->cuda, "the CPU has taken over");
    if (p->cuda && view_cuda_failure(p->cuda)) {
        p->options.detail(view_cuda_failure(p->cuda));
        view_set_uploader(p->view, NULL);
        view_cuda_close(&p->cuda);
    }
    return p->cuda != NULL;
}

/* Equalizes what is in `shown` and puts it into the textures. */
static int fill(Player *p, int again, MediaError *error)
{
    const int on_device = can_stay_on_device(p);
    MediaError failed = {0};
    int ret = equalize(p, again, on_device, error);
    if (ret < 0)
        return ret;
    const int64_t equalized = player_now();
    (void)can_stay_on_device(p); /* the GPU may have been lost with this frame */
    ret = upload_both(p, on_device ? &failed : error);
    if (ret < 0 && on_device && !can_stay_on_device(p)) { /* by way of the host, then */
        ret = equalize(p, 1, 0, error);
        if (ret >= 0)
            ret = upload_both(p, error);
    } else if (ret < 0) {
        media_fail(error, failed.fault, "%s", failed.text);
    }
    p->shown.view_us = (double)(player_now() - equalized);
    p->dirty = 1;
    return ret;
}

int stage_redo(Player *p, MediaError *error)
{
    return p->shown.in ? fill(p, 1, error) : 0;
}

/* The first frame ahead takes the place of the one that is shown. */
int stage_put_on(Player *p, int64_t due, MediaError *error)
{
    FeedFrame next = playback_take(&p->playback);
    player_drop_shown(p);
    p->shown = (Shown){
        .in = next.frame,
        .position = next.position,
        .duration = next.duration,
        .decode_us = next.decode_us,
        .preview = next.preview,
        .captured_at = next.captured_at,
        .decoded_at = next.decoded_at,
        .due = due,
    };
    if (p->unrelated) /* not before: until now, keys had the one before equalized again */
        p->equalizer.reset(p->equalizer.opaque);
    p->unrelated = 0;
    const int ret = fill(p, 0, error);
    if (ret < 0)
        return ret;
    note_timings(p);
    note_time(&p->timings.run, p->shown.equalize_us + p->shown.view_us);
    return 0;
}

/* ---- which frame, and when ---- */

/* What comes first after a start is shown at once: a preview, then the frame that was asked for. */
int stage_show_first(Player *p, int64_t now, MediaError *error)
{
    const int preview = p->playback.ahead[0].preview;
    p->unrelated = 1;
    if (!preview)
        playback_arrived(&p->playback, now);
    int ret = stage_put_on(p, now, error);
    if (ret >= 0 && !preview && p->playback.start.before)
        status_say_frame(p);
    if (ret >= 0 && !preview && p->steps_back) {
        const int more = p->steps_back - 1;
        ret = controls_step_back(p, error);
        p->steps_back = more;
    }
    return ret;
}

static void drop_first(Player *p)
{
    FeedFrame frame = playback_take(&p->playback);
    av_frame_free(&frame.frame);
}

/* The decoder leaves out what it can while frames come this late, until they nearly do not. */
static void hurry_if_late(Player *p, int64_t lateness)
{
    if (lateness > HURRY_US)
        video_feed_hurry(p->playback.feed, 1);
    else if (lateness < HURRY_ENOUGH_US)
        video_feed_hurry(p->playback.feed, 0);
}

static int advance(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    Playback *b = &p->playback;
    const int64_t lead = (int64_t)p->timings.run + LEAD_US;
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
    return stage_put_on(p, due, error);
}

/* ---- the end ---- */

/* The last frame stays for as long as it lasts, and until the sound has ended, too, unless only a
 * part of the input was asked for. */
static int is_over(Player *p, int64_t now)
{
    Playback *b = &p->playback;
    if (b->paused)
        return 0;
    if (b->pending || !p->shown.out) /* there is no frame where it was asked for one */
        return 1;
    if (!video_feed_is_part(b->feed) && !playback_is_silent(b, now))
        return 0;
    return playback_time(b, now) >= p->shown.position + p->shown.duration;
}

static void end(Player *p, int64_t now)
{
    p->ended = 1;
    p->over = !p->options.keep_open || !p->shown.out;
    if (p->over)
        return;
    playback_pause(&p->playback, 1, p->shown.position, now);
    status_say(p, playback_can_seek(&p->playback) ? "The end; Space plays it again" : "The end");
}

static int end_or_loop(Player *p, int64_t now, MediaError *error)
{
    Playback *b = &p->playback;
    if (!is_over(p, now) || p->next.source) /* that is about to take its place */
        return 0;
    if (source_is_still(b->source) && p->shown.out) { /* a picture is to be looked at */
        playback_pause(b, 1, p->shown.position, now);
        return 0;
    }
    if (!p->loop || !playback_can_seek(b) || b->pending) {
        end(p, now);
        return 0;
    }
    const FeedStart start = {.position = FFMAX(p->options.from_us, 0)};
    p->steps = p->steps_back = 0;
    subtitles_reset(p->subtitles);
    return playback_start(b, &start, error);
}

int stage_run(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    Playback *b = &p->playback;
    if (b->source->live)
        return live_run(p, now, error);
    int ret = playback_fetch(b, 1, error);
    if (ret < 0)
        return ret;
    if (p->shown.out && !p->shown.drawn) { /* the one before is still on the screen */
        *wait = FFMIN(*wait, FFMAX(p->shown.due - now, 0));
        return 0;
    }
    if (!b->ahead_count)
        return b->ended ? end_or_loop(p, now, error) : 0;
    if (b->pending)
        return stage_show_first(p, now, error);
    if (!b->paused)
        return advance(p, now, wait, error);
    if (!p->steps)
        return 0;
    p->steps--;
    ret = stage_put_on(p, now, error);
    if (ret >= 0)
        status_say_frame(p);
    return ret;
}
