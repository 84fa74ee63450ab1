#include "media/input/video_choice.h"

#include <stdlib.h>

/* A track with fewer frames by this factor shows stills; one shorter than this fraction is an
 * extra. */
#define STILLS_FACTOR 10
#define SAME_LENGTH 0.9

static int is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !source_is_picture(stream);
}

/* Seconds; 0: unknown. */
static double track_length(const Source *s, const AVStream *stream)
{
    if (source_duration_is_end(s))
        return (double)source_tagged_length(stream) / AV_TIME_BASE;
    return stream->duration > 0 ? (double)stream->duration * av_q2d(stream->time_base) : 0;
}

/* 0: unknown. */
static double declared_frames(const Source *s, const AVStream *stream)
{
    const AVDictionaryEntry *tag =
        av_dict_get(stream->metadata, "NUMBER_OF_FRAMES", NULL, AV_DICT_IGNORE_SUFFIX);
    const AVRational rate = stream->avg_frame_rate;
    if (stream->nb_frames > 0)
        return (double)stream->nb_frames;
    if (tag)
        return strtod(tag->value, NULL);
    return rate.num > 0 && rate.den > 0 ? track_length(s, stream) * av_q2d(rate) : 0;
}

typedef struct Rank {
    int moves, lasts, is_default; /* conditions: the first one that differs decides */
    int64_t area;
} Rank;

/* A second's frames if the container tells no number; libavformat knows no rate of one frame. */
static double frames_of(const Source *s, const AVStream *stream)
{
    const double frames = declared_frames(s, stream);
    const AVRational rate = stream->avg_frame_rate;
    if (frames > 0)
        return frames;
    return rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 1;
}

static int moves(const Source *s, const AVStream *stream, double most_frames)
{
    const double frames = frames_of(s, stream);
    return !(stream->disposition & (AV_DISPOSITION_STILL_IMAGE | AV_DISPOSITION_DEPENDENT)) &&
           frames * STILLS_FACTOR >= most_frames && (frames >= 1.5 || most_frames < 1.5);
}

/* Returns > 0 if the first one is better. `why`: the deciding criterion. */
static int compare(const Rank *a, const Rank *b, const char **why)
{
    *why = "it is the longest";
    if (a->moves != b->moves)
        return a->moves - b->moves;
    if (a->lasts != b->lasts)
        return a->lasts - b->lasts;
    *why = "it is the default";
    if (a->is_default != b->is_default)
        return a->is_default - b->is_default;
    *why = a->area == b->area ? "it is the first" : "it is the largest";
    return (a->area > b->area) - (a->area < b->area);
}

VideoChoice video_choose(const Source *s, int number)
{
    AVStream *const *streams = s->format->streams;
    const unsigned count = s->format->nb_streams;
    VideoChoice choice = {0};
    double most_frames = 0, longest = 0;
    Rank best = {0};
    for (unsigned i = 0; i < count; i++)
        if (is_video(streams[i]))
            most_frames = FFMAX(most_frames, frames_of(s, streams[i]));
    for (unsigned i = 0; i < count; i++)
        if (is_video(streams[i]) && moves(s, streams[i], most_frames))
            longest = FFMAX(longest, track_length(s, streams[i]));
    for (unsigned i = 0; i < count; i++) {
        choice.pictures += source_is_picture(streams[i]);
        if (!is_video(streams[i]))
            continue;
        const double length = track_length(s, streams[i]);
        const AVCodecParameters *par = streams[i]->codecpar;
        const Rank rank = {
            .moves = moves(s, streams[i], most_frames),
            .lasts = length <= 0 || length >= SAME_LENGTH * longest,
            .is_default = (streams[i]->disposition & AV_DISPOSITION_DEFAULT) != 0,
            .area = (int64_t)par->width * par->height,
        };
        if (number < 0 ? !choice.video || compare(&rank, &best, &choice.why) > 0
                       : choice.count == number) {
            choice.video = streams[i];
            best = rank;
        }
        choice.count++;
    }
    return choice;
}

int source_is_foreign(const Source *s, const AVStream *stream)
{
    if (!s->video || !av_find_program_from_stream(s->format, NULL, s->video->index))
        return 0;
    AVProgram *program = NULL;
    int is_in_one = 0;
    while ((program = av_find_program_from_stream(s->format, program, stream->index))) {
        is_in_one = 1;
        for (unsigned i = 0; i < program->nb_stream_indexes; i++)
            if (program->stream_index[i] == (unsigned)s->video->index)
                return 0;
    }
    return is_in_one;
}

int video_keep_program(Source *s)
{
    const int is_end = source_duration_is_end(s);
    int dropped = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        if (!source_is_foreign(s, s->format->streams[i]))
            continue;
        s->format->streams[i]->discard = AVDISCARD_ALL;
        dropped++;
    }
    int64_t start = INT64_MAX, end = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        const AVStream *stream = s->format->streams[i];
        const int64_t time = source_track_start(s, stream);
        const int64_t length = (int64_t)(track_length(s, stream) * AV_TIME_BASE);
        if (time == AV_NOPTS_VALUE)
            continue;
        start = FFMIN(start, time);
        end = FFMAX(end, length + (is_end ? 0 : time));
    }
    const int64_t length = end - (is_end ? 0 : start);
    if (dropped && start != INT64_MAX)
        s->format->start_time = start;
    if (dropped && start != INT64_MAX && length > 0)
        s->format->duration = length;
    return dropped;
}
