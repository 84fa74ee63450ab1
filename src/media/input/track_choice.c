#include "media/input/track_choice.h"

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/pixdesc.h>

#include "media/gpu_frame.h"
#include "media/side_data.h"

int track_count(const Source *source, enum AVMediaType type)
{
    int count = 0;
    for (unsigned i = 0; i < source->stream_count; i++)
        count += source->format->streams[i]->codecpar->codec_type == type &&
                 !source_is_foreign(source, source->format->streams[i]);
    return count;
}

const AVStream *track_find(const Source *source, enum AVMediaType type, int number)
{
    for (unsigned i = 0; i < source->stream_count; i++) {
        const AVStream *stream = source->format->streams[i];
        if (stream->codecpar->codec_type == type && !source_is_foreign(source, stream) &&
            number-- == 0)
            return stream;
    }
    return NULL;
}

const AVStream *track_best(const Source *source, enum AVMediaType type)
{
    const int index = av_find_best_stream(source->format, type, -1, source->video->index, NULL, 0);
    if (index >= 0 && (unsigned)index < source->stream_count &&
        !source_is_foreign(source, source->format->streams[index]))
        return source->format->streams[index];
    return track_find(source, type, 0);
}

int track_open_decoder(AVCodecContext **decoder, const AVCodecParameters *in, AVRational time_base)
{
    const AVCodec *codec = avcodec_find_decoder(in->codec_id);
    *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!*decoder)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(*decoder, in);
    (*decoder)->pkt_timebase = time_base;
    return ret < 0 ? ret : avcodec_open2(*decoder, codec, NULL);
}

static void add_tag(const AVStream *stream, const char *key, const char *before, char *text,
                    size_t size)
{
    const AVDictionaryEntry *tag = av_dict_get(stream->metadata, key, NULL, 0);
    if (tag && tag->value[0])
        av_strlcatf(text, size, "%s%s", before, tag->value);
}

void track_describe_video(const Source *source, const AVFrame *frame, char *text, size_t size)
{
    const char *format = av_get_pix_fmt_name(gpu_frame_format(frame));
    snprintf(text, size, "%s, %dx%d %s, %s range", codec_name(source->video->codecpar),
             frame->width, frame->height, format ? format : "?",
             frame->color_range == AVCOL_RANGE_JPEG ? "full" : "limited");
}

void track_display_size(const Source *source, int *width, int *height)
{
    const AVCodecParameters *video = source->video->codecpar;
    const AVRational aspect = av_guess_sample_aspect_ratio(source->format, source->video, NULL);
    const int32_t *matrix = side_data_display_matrix(source->video);
    *width = video->width;
    *height = video->height;
    if (aspect.num > aspect.den && aspect.den > 0)
        *width = (int)av_rescale(*width, aspect.num, aspect.den);
    else if (aspect.num > 0 && aspect.num < aspect.den)
        *height = (int)av_rescale(*height, aspect.den, aspect.num);
    if (matrix && FFABS(matrix[1]) > FFABS(matrix[0])) /* a quarter turn */
        FFSWAP(int, *width, *height);
}

int source_chapters(const Source *source)
{
    return source->format ? (int)source->format->nb_chapters : 0;
}

int64_t source_chapter(const Source *source, int number)
{
    const AVChapter *chapter = source->format->chapters[number];
    const int64_t start = av_rescale_q(chapter->start, chapter->time_base, AV_TIME_BASE_Q);
    return FFMAX(start - source_start(source), 0);
}

const char *source_chapter_title(const Source *source, int number)
{
    const AVDictionary *tags = source->format->chapters[number]->metadata;
    const AVDictionaryEntry *tag = av_dict_get(tags, "title", NULL, 0);
    return tag ? tag->value : "";
}

const char *source_title(const Source *source)
{
    const AVDictionaryEntry *tag = av_dict_get(source->format->metadata, "title", NULL, 0);
    return tag && tag->value[0] ? tag->value : NULL;
}

void track_describe(const Source *source, const AVStream *stream, char *text, size_t size)
{
    const enum AVMediaType type = stream->codecpar->codec_type;
    snprintf(text, size, "%d of %d", source_track_number(source, stream) + 1,
             track_count(source, type));
    add_tag(stream, "language", ": ", text, size);
    add_tag(stream, "title", ", ", text, size);
    av_strlcatf(text, size, " (%s)", codec_name(stream->codecpar));
}
