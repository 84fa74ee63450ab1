#include "app/losses.h"

#include <stdio.h>
#include <string.h>

#include "app/run_end.h"
#include "app/terminal.h"
#include "run/run.h"

/* A camera's frame that is older than this when it is written waited for the encoder. */
#define BEHIND_US 200000

/* ---- frames of a camera ---- */

/* The driver counts frames as they are read, which is ahead of the frames that are written. So a
 * gap after a frame that was written late counts instead. */
void losses_count_missed(Missed *missed, const Source *source, int64_t time_us)
{
    const AVRational rate = camera_setting(source->camera)->rate;
    const int64_t apart = rate.num > 0 ? av_rescale(AV_TIME_BASE, rate.den, rate.num) : 0;
    if (missed->behind && apart > 0)
        missed->frames += FFMAX((time_us - missed->last_us + apart / 2) / apart - 1, 0);
    missed->last_us = time_us;
    missed->behind = run_now_us() - (double)camera_captured_at(source->camera, time_us) > BEHIND_US;
}

void losses_say_missed(const Missed *missed, const char *why)
{
    if (missed->frames)
        say(SAY_WARNINGS, "%lld frame%s of the camera came while others waited to be %s",
            (long long)missed->frames, missed->frames == 1 ? "" : "s", why);
}

void losses_say_lost(const Source *source)
{
    const int64_t lost = source->camera ? camera_status(source->camera).missed : 0;
    if (lost)
        say(SAY_DETAILS, "%lld frame%s lost in the camera, by its driver's count", (long long)lost,
            lost == 1 ? " was" : "s were");
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
    snprintf(text, size, "the camera was gone after %lld%s frame%s: %s", (long long)frames, of,
             frames == 1 && !*of ? "" : "s", status.why);
    return 1;
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
        snprintf(text + length, size - length, "%s%lld error%s in the sound left no gap",
                 length ? "; " : "the input is damaged: ", (long long)loss->errors,
                 loss->errors == 1 ? "" : "s");
}

void losses_add_tracks(char *text, size_t size, const Writer *writer)
{
    if (!writer)
        return;
    const SoundLoss loss = writer_lost_sound(writer);
    add_sound_loss(text, size, &loss);
    add_loss(text, size, writer_lost_packets(writer), "other tracks could not be copied");
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
