/* Which track of a source is equalized, and whether it can be. */
#include <string.h>

#include <libavutil/avstring.h>

#include "media/codec_name.h"
#include "media/input/source_parts.h"
#include "media/side_data.h"

int source_is_picture(const AVStream *stream)
{
    return (stream->disposition &
            (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0;
}

static int is_video(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !source_is_picture(stream);
}

int source_track_number(const Source *s, const AVStream *stream)
{
    int number = 0;
    for (int i = 0; i < stream->index; i++) {
        const AVStream *other = s->format->streams[i];
        number += other->codecpar->codec_type == stream->codecpar->codec_type &&
                  source_is_picture(other) == source_is_picture(stream);
    }
    return number;
}

static int64_t track_rank(const AVStream *stream)
{
    const int64_t area = (int64_t)stream->codecpar->width * stream->codecpar->height;
    return area + ((stream->disposition & AV_DISPOSITION_DEFAULT) ? INT64_C(1) << 40 : 0);
}

/* The one that was asked for, or the best. `*count`: how many there are. */
static AVStream *find_video(const Source *s, int wanted, int *count, int *pictures)
{
    AVStream *best = NULL;
    *count = *pictures = 0;
    for (unsigned i = 0; i < s->format->nb_streams; i++) {
        AVStream *stream = s->format->streams[i];
        *pictures += source_is_picture(stream);
        if (!is_video(stream))
            continue;
        ++*count;
        if (wanted ? *count == wanted : !best || track_rank(stream) > track_rank(best))
            best = stream;
    }
    return best;
}

static int pick_video(Source *s, const SourceOptions *options, MediaError *error)
{
    int count, pictures;
    s->video = find_video(s, options->video_track, &count, &pictures);
    if (!count && s->read_error)
        return source_fail_to_read(s, error);
    if (!count)
        return media_fail(error, MEDIA_INPUT, "%s has no video%s", s->name,
                          pictures ? " (a cover picture is not a video)" : "");
    if (!s->video)
        return media_fail(error, MEDIA_USAGE,
                          "--video-track %d: %s has %d video tracks, counted from 0",
                          options->video_track - 1, s->name, count);
    if (count > 1 && !options->video_track && options->note) {
        const AVCodecParameters *par = s->video->codecpar;
        char line[160], size[32] = ""; /* which is not always known yet */
        if (par->width > 0 && par->height > 0)
            snprintf(size, sizeof(size), ", %dx%d", par->width, par->height);
        snprintf(line, sizeof(line),
                 "of %d video tracks, number %d (%s%s) is equalized; --video-track takes "
                 "another",
                 count, source_track_number(s, s->video), codec_name(par), size);
        options->note(line);
    }
    return 0;
}

/* Profile 5 is in colours of its own (IPT): a curve over its first plane would not be one of luma.
 */
static int check_dolby_vision(const Source *s, const SourceOptions *options, MediaError *error)
{
    const int profile = side_data_dolby_vision_profile(s->video);
    if (profile == 5 && !options->force_dolby_vision)
        return media_fail(
            error, MEDIA_INPUT,
            "%s is Dolby Vision of profile 5: its first plane is not luma, and "
            "equalizing it spoils the colours; --force-dolby-vision does it all the same",
            s->name);
    if (profile && options->note)
        options->note("the Dolby Vision layer is left out: it describes the picture as it was");
    return 0;
}

int source_refuse_size(const Source *s, unsigned width, unsigned height, MediaError *error)
{
    const int64_t pixels = (int64_t)width * height;
    if (pixels > s->max_pixels)
        return media_fail(error, MEDIA_INPUT,
                          "%s has frames of %ux%u pixels; --max-pixels allows %" PRId64, s->name,
                          width, height, s->max_pixels);
    return media_fail(error, MEDIA_INPUT,
                      "%s has frames of %ux%u pixels, which are more than FFmpeg decodes, whatever "
                      "--max-pixels allows",
                      s->name, width, height);
}

/* Where FFmpeg has refused the size, the track has none. */
static int check_size(const Source *s, MediaError *error)
{
    const AVCodecParameters *par = s->video->codecpar;
    const int64_t pixels = (int64_t)par->width * par->height;
    if (pixels > s->max_pixels)
        return source_refuse_size(s, (unsigned)par->width, (unsigned)par->height, error);
    if (pixels == 0 && s->refused_width)
        return source_refuse_size(s, s->refused_width, s->refused_height, error);
    return 0;
}

static int note_streams(Source *s, MediaError *error)
{
    s->stream_count = s->format->nb_streams;
    s->clocks = av_calloc(s->stream_count, sizeof(*s->clocks));
    if (!s->clocks)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    for (unsigned i = 0; i < s->stream_count; i++)
        s->clocks[i].last = AV_NOPTS_VALUE;
    s->clock = s->latest = AV_NOPTS_VALUE;
    return 0;
}

int source_pick_video(Source *s, const SourceOptions *options, MediaError *error)
{
    int ret = pick_video(s, options, error);
    if (ret >= 0)
        ret = check_size(s, error);
    if (ret >= 0)
        ret = check_dolby_vision(s, options, error);
    return ret < 0 ? ret : note_streams(s, error);
}
