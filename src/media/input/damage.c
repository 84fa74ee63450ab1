#include "media/input/damage.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>

/* A video that ends more than this before its declared end counts as cut off. */
#define CUT_OFF_SECONDS 1.0

/* Some writers set all bits for an unknown length. */
#define UNKNOWN_MP4_LENGTH UINT32_MAX

/* Returns the declared end of the video in AV_TIME_BASE units; AV_NOPTS_VALUE: unknown. Sets *any
 * to 1 if only the end of the whole file is declared, which any track may reach. */
static int64_t declared_end(const Source *source, int *any)
{
    const AVStream *video = source->video;
    *any = 0;
    if (!source_declares_duration(source))
        return AV_NOPTS_VALUE;
    const bool is_end = source_duration_is_end(source);
    int64_t duration = is_end ? source_tagged_length(video) : 0;
    if (duration)
        return duration;
    if (!is_end && video->duration > 0 && video->duration != UNKNOWN_MP4_LENGTH) {
        duration = av_rescale_q(video->duration, video->time_base, AV_TIME_BASE_Q);
    } else if (!source_has_fragments(source)) {
        duration = source->format->duration;
        *any = 1;
    }
    if (duration <= 0)
        return AV_NOPTS_VALUE;
    return is_end ? duration : source_start(source) + duration;
}

static bool input_is_damaged(const Damage *d)
{
    return d->cut_off || d->packets || d->frames;
}

bool damage_any(const Damage *d)
{
    return input_is_damaged(d) || d->lost_frames;
}

void damage_sum(Damage *damage, const Damage *next)
{
    damage->cut_off |= next->cut_off;
    damage->packets += next->packets;
    damage->frames += next->frames;
    damage->lost_frames += next->lost_frames;
    if (!damage->first[0])
        av_strlcpy(damage->first, next->first, sizeof(damage->first));
}

void damage_add(DamageReport *r, const DamageReport *next)
{
    damage_sum(&r->damage, &next->damage);
    r->part.frames += next->part.frames;
    if (next->part.video_end != AV_NOPTS_VALUE)
        r->part.video_end = next->part.video_end;
    if (next->part.any_end != AV_NOPTS_VALUE)
        r->part.any_end = next->part.any_end;
}

static void describe_input(const Source *source, const DamageReport *report, char *text,
                           size_t size)
{
    const ReadPart *part = &report->part;
    const Damage *damage = &report->damage;
    const bool known = part->whole && !source_has_fragments(source);
    const int64_t total = known ? source_frame_count(source) : 0;
    int any;
    const int64_t declared = declared_end(source, &any);
    const int64_t end = any ? part->any_end : part->video_end;
    double missing = 0; /* seconds at the end */
    if (!damage->lost_frames && part->to_end && declared != AV_NOPTS_VALUE && end != AV_NOPTS_VALUE)
        missing = (double)(declared - end) / AV_TIME_BASE;
    if (!input_is_damaged(damage) && missing <= CUT_OFF_SECONDS)
        return;
    av_strlcpy(text, "the input is damaged", size);
    if (total > part->frames)
        av_strlcatf(text, size, ": %" PRId64 " of %" PRId64 " frames could be decoded",
                    part->frames, total);
    else if (missing > CUT_OFF_SECONDS)
        av_strlcatf(text, size, ": its video ends %.1f s early", missing);
    if (damage->cut_off)
        av_strlcatf(text, size, "%s it ends inside %s", strchr(text, ':') ? ";" : ":",
                    elements_name(source->format->iformat->name));
    if (damage->packets)
        av_strlcatf(text, size, "; %" PRId64 " packet%s unreadable or corrupt", damage->packets,
                    damage->packets == 1 ? "" : "s");
    if (damage->frames)
        av_strlcatf(text, size, "; %" PRId64 " frame%s with errors in the picture", damage->frames,
                    damage->frames == 1 ? "" : "s");
    if (damage->first[0])
        av_strlcatf(text, size, " (first: %s)", damage->first);
}

bool damage_describe(const Source *source, const DamageReport *report, char *text, size_t size)
{
    const int64_t lost = report->damage.lost_frames;
    text[0] = '\0';
    describe_input(source, report, text, size);
    if (lost)
        av_strlcatf(text, size, "%s%" PRId64 " frame%s lost because the GPU failed",
                    text[0] ? "; " : "", lost, lost == 1 ? " was" : "s were");
    return text[0];
}
