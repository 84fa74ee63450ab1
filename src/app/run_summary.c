#include "app/run_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/run_end.h"
#include "app/terminal.h"
#include "run/run.h"

/* Age in microseconds. A camera frame that is older when written has waited for the encoder. */
#define LATE_US 200000

static int count_frame(void *self, Frame *f)
{
    RunFigures *r = self;
    const LumeqFrameStats *stats = &f->stats;
    const AVFrame *frame = f->out;
    const int depth = equalizer_depth(frame);
    if (f->arrays) {
        const Decision decision = decision_find(stats, r->params, r->options, depth,
                                                frame->color_range == AVCOL_RANGE_JPEG);
        decision_text(&decision, NULL, r->words, sizeof(r->words));
        decisions_add(&r->decisions, &decision);
        f->words = r->words;
    }
    r->filtered += stats->filtered;
    r->noise_gain = FFMAX(r->noise_gain, stats->noise_gain);
    Pumping *p = &r->pumping;
    const double code = ldexp(1, 8 - depth);
    const double in = stats->mean_in * code, out = stats->mean_out * code;
    if (p->started && !stats->scene_cut) {
        p->sum_in += fabs(in - p->last_in);
        p->sum_out += fabs(out - p->last_out);
        p->count++;
    }
    p->started = 1;
    p->last_in = in;
    p->last_out = out;
    return 0;
}

Sink figures_sink(RunFigures *r)
{
    return (Sink){.self = r, .frame = count_frame};
}

void figures_say_details(const RunFigures *r, int planned)
{
    const Pumping *p = &r->pumping;
    if (planned && p->count)
        say(r->params->deflicker > 0 ? SAY_NORMAL : SAY_DETAILS,
            "brightness changed by %.3f codes per frame, after equalizing by %.3f (MABD, of 256)",
            p->sum_in / (double)p->count, p->sum_out / (double)p->count);
    if (r->params->mode != LUMEQ_MODE_OFF)
        say(SAY_DETAILS, "contrast and grain of dark areas amplified at most %.1fx", r->noise_gain);
}

/* ---- frames of a camera ---- */

/* Counts frames that are missing after a frame that was written late. The driver's count of lost
 * frames cannot be used, because it increases before the late frame is written. */
void losses_count_missed(Missed *missed, const Source *source, int64_t time_us)
{
    const AVRational rate = camera_setting(source->camera)->rate;
    const int64_t apart = rate.num > 0 ? av_rescale(AV_TIME_BASE, rate.den, rate.num) : 0;
    const int losses = source_losses(source);
    if (missed->late && apart > 0 && losses == missed->losses)
        missed->frames += FFMAX((time_us - missed->last_us + apart / 2) / apart - 1, 0);
    missed->last_us = time_us;
    missed->losses = losses;
    missed->late = run_now_us() - (double)camera_captured_at(source->camera, time_us) > LATE_US;
}

void losses_say_missed(const Missed *missed, const char *why)
{
    if (missed->frames)
        say(SAY_WARNINGS, "%lld frame%s of the camera %s dropped while others waited to be %s",
            (long long)missed->frames, missed->frames == 1 ? "" : "s",
            missed->frames == 1 ? "was" : "were", why);
}

void losses_say_lost(const Source *source)
{
    const int64_t lost = source->camera ? camera_status(source->camera).missed : 0;
    if (lost)
        say(SAY_DETAILS, "%lld frame%s lost in the camera, as counted by its driver",
            (long long)lost, lost == 1 ? " was" : "s were");
}

int losses_camera_gone(const Source *source, int64_t frames, const Options *o, char *text,
                       size_t size)
{
    char of[32] = "";
    if (!source->camera || (o->frames >= 0 && frames >= o->frames))
        return 0;
    const CameraStatus status = camera_status(source->camera);
    if (status.state != CAMERA_GONE)
        return 0;
    if (o->frames >= 0)
        snprintf(of, sizeof(of), " of %lld", (long long)o->frames);
    snprintf(text, size, "the camera disappeared after %lld%s frame%s: %s", (long long)frames, of,
             frames == 1 && !*of ? "" : "s", status.why);
    return 1;
}

int losses_camera_changed(const Source *source)
{
    return source->camera && camera_status(source->camera).state == CAMERA_CHANGED;
}

/* ---- damage of the input ---- */

static void add_loss(char *text, size_t size, int64_t count, const char *what)
{
    const size_t length = strlen(text);
    if (count)
        snprintf(text + length, size - length, "%s%lld packet%s of %s",
                 length ? "; " : "the input is damaged: ", (long long)count, count == 1 ? "" : "s",
                 what);
}

static void add_sound_loss(char *text, size_t size, const SoundLoss *loss)
{
    const double seconds = (double)loss->silence / AV_TIME_BASE;
    size_t length = strlen(text);
    if (loss->silence)
        snprintf(text + length, size - length,
                 "%s%.*f s of sound could not be decoded and became silence",
                 length ? "; " : "the input is damaged: ", seconds < 0.1 ? 3 : 2, seconds);
    length = strlen(text);
    if (loss->errors)
        snprintf(text + length, size - length, "%s%lld error%s in the sound, without a gap",
                 length ? "; " : "the input is damaged: ", (long long)loss->errors,
                 loss->errors == 1 ? "" : "s");
}

void losses_add_tracks(char *text, size_t size, const Writer *writer)
{
    if (!writer)
        return;
    const TrackLosses loss = writer_losses(writer);
    add_sound_loss(text, size, &loss.sound);
    const size_t length = strlen(text);
    if (loss.missing)
        snprintf(text + length, size - length,
                 "%s%.2f s of sound is missing where the track changes", length ? "; " : "",
                 (double)loss.missing / AV_TIME_BASE);
    add_loss(text, size, loss.packets, "other tracks could not be copied");
}

int losses_say_damage(const char *damage, const Writer *writer)
{
    char text[768];
    snprintf(text, sizeof(text), "%s", damage);
    losses_add_tracks(text, sizeof(text), writer);
    if (*text)
        say(SAY_ERRORS, "%s", text);
    return *text ? EXIT_DAMAGED : EXIT_DONE;
}
