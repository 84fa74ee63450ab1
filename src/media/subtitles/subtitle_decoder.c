#include "media/subtitles/subtitle_decoder.h"

#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>

#include "media/input/track_choice.h"
#include "media/packet_set.h"

/* In bytes. Longer lines are truncated. */
#define MAX_LINE (64 * 1024)

/* Maximum columns and rows. Larger bitmaps are skipped. The default replaces a larger canvas. */
#define MAX_CANVAS 8192

/* The default canvas of DVB subtitles. For other subtitles, the default is the video's size. */
#define DVB_WIDTH 720
#define DVB_HEIGHT 576

struct SubtitleDecoder {
    AVCodecContext *codec;
    int64_t start; /* source_start() */
    AVRational time_base;
    int video_width, video_height;
    bool is_text;
    PacketSet seen; /* decoded text packets */
};

SubtitleKind subtitle_kind(const AVStream *stream)
{
    const enum AVCodecID id = stream->codecpar->codec_id;
    const AVCodecDescriptor *descriptor = avcodec_descriptor_get(id);
    if (id == AV_CODEC_ID_ASS || id == AV_CODEC_ID_SSA)
        return SUBTITLE_KIND_ASS;
    return descriptor && (descriptor->props & AV_CODEC_PROP_BITMAP_SUB) ? SUBTITLE_KIND_IMAGES
                                                                        : SUBTITLE_KIND_PLAIN;
}

int subtitle_decoder_open(SubtitleDecoder **decoder, const Source *source, const AVStream *stream,
                          MediaError *error)
{
    SubtitleDecoder *d = av_mallocz(sizeof(*d));
    *decoder = d;
    if (!d)
        return media_no_memory(error, MEDIA_INPUT);
    d->start = source_start(source);
    d->time_base = stream->time_base;
    d->video_width = source->video ? source->video->codecpar->width : 0;
    d->video_height = source->video ? source->video->codecpar->height : 0;
    d->is_text = subtitle_kind(stream) != SUBTITLE_KIND_IMAGES;
    const int ret = track_open_decoder(&d->codec, stream->codecpar, stream->time_base);
    if (ret >= 0)
        return 0;
    subtitle_decoder_close(decoder);
    return media_fail(error, MEDIA_INPUT, "%s subtitles cannot be shown: %s",
                      codec_name(stream->codecpar), media_av_text(ret));
}

const char *subtitle_decoder_header(const SubtitleDecoder *d)
{
    return d->codec->subtitle_header ? (const char *)d->codec->subtitle_header : "";
}

static int copy_lines(SubtitleEvent *event, const AVSubtitle *subtitle)
{
    event->lines = av_calloc(subtitle->num_rects, sizeof(*event->lines));
    if (!event->lines)
        return AVERROR(ENOMEM);
    for (unsigned i = 0; i < subtitle->num_rects; i++) {
        const char *line = subtitle->rects[i]->ass;
        if (!line || !(event->lines[event->line_count] = av_strndup(line, MAX_LINE)))
            continue;
        event->line_count++;
    }
    return 0;
}

/* Palette entries are 0xAARRGGBB in native byte order. */
static void copy_pixels(uint8_t *to, const AVSubtitleRect *rect)
{
    for (int y = 0; y < rect->h; y++)
        for (int x = 0; x < rect->w; x++, to += 4) {
            const int index = rect->data[0][(ptrdiff_t)y * rect->linesize[0] + x];
            uint32_t colour;
            memcpy(&colour, rect->data[1] + (ptrdiff_t)index * 4, 4);
            for (int i = 0; i < 4; i++)
                to[i] = (uint8_t)(colour >> (i == 3 ? 24 : 16 - 8 * i));
        }
}

static bool is_sane(const AVSubtitleRect *rect)
{
    return rect->type == SUBTITLE_BITMAP && rect->data[0] && rect->data[1] && rect->w > 0 &&
           rect->h > 0 && rect->w <= MAX_CANVAS && rect->h <= MAX_CANVAS && rect->x >= 0 &&
           rect->y >= 0 && rect->x <= MAX_CANVAS && rect->y <= MAX_CANVAS;
}

static int copy_bitmaps(SubtitleEvent *event, const AVSubtitle *subtitle)
{
    event->bitmaps = av_calloc(subtitle->num_rects, sizeof(*event->bitmaps));
    if (!event->bitmaps)
        return AVERROR(ENOMEM);
    for (unsigned i = 0; i < subtitle->num_rects; i++) {
        const AVSubtitleRect *rect = subtitle->rects[i];
        SubtitleBitmap *bitmap = &event->bitmaps[event->bitmap_count];
        if (!is_sane(rect))
            continue;
        *bitmap = (SubtitleBitmap){av_malloc((size_t)rect->w * (size_t)rect->h * 4), rect->x,
                                   rect->y, rect->w, rect->h};
        if (!bitmap->pixels)
            return AVERROR(ENOMEM);
        event->bitmap_count++;
        copy_pixels(bitmap->pixels, rect);
    }
    return 0;
}

/* True if arithmetic on the time cannot overflow; false for AV_NOPTS_VALUE. */
static bool is_usable(int64_t time)
{
    return time > INT64_MIN / 4 && time < INT64_MAX / 4;
}

static void place_event(const SubtitleDecoder *d, SubtitleEvent *event, const AVSubtitle *subtitle,
                        const AVPacket *packet)
{
    const int64_t pts = subtitle->pts != AV_NOPTS_VALUE
                            ? subtitle->pts
                            : av_rescale_q(packet->pts, d->time_base, AV_TIME_BASE_Q);
    const int64_t base = pts - d->start;
    int width = d->codec->width, height = d->codec->height;
    event->start = base + (int64_t)subtitle->start_display_time * 1000;
    event->end = SUBTITLE_UNTIL_NEXT;
    /* Decoders report an unknown end as 0 or all bits set. */
    if (subtitle->end_display_time > subtitle->start_display_time &&
        subtitle->end_display_time != UINT32_MAX)
        event->end = base + (int64_t)subtitle->end_display_time * 1000;
    if (width <= 0 || height <= 0 || width > MAX_CANVAS || height > MAX_CANVAS) {
        const int dvb = d->codec->codec_id == AV_CODEC_ID_DVB_SUBTITLE;
        width = dvb ? DVB_WIDTH : d->video_width;
        height = dvb ? DVB_HEIGHT : d->video_height;
    }
    event->canvas_width = width;
    event->canvas_height = height;
}

int subtitle_decoder_decode(SubtitleDecoder *d, AVPacket *packet, SubtitleEvent *event)
{
    AVSubtitle subtitle = {0};
    int got = 0;
    *event = (SubtitleEvent){0};
    if (packet->pts == AV_NOPTS_VALUE || !is_usable(d->start) ||
        !is_usable(av_rescale_q(packet->pts, d->time_base, AV_TIME_BASE_Q)) ||
        (d->is_text && packet_set_add(&d->seen, packet)))
        return 0;
    int ret = avcodec_decode_subtitle2(d->codec, &subtitle, &got, packet);
    if (ret >= 0 && got) {
        place_event(d, event, &subtitle, packet);
        ret = d->is_text ? copy_lines(event, &subtitle) : copy_bitmaps(event, &subtitle);
    }
    avsubtitle_free(&subtitle);
    if (ret >= 0 && got && (!d->is_text || event->line_count))
        return 1;
    subtitle_event_free(event);
    return 0;
}

void subtitle_decoder_flush(SubtitleDecoder *d)
{
    avcodec_flush_buffers(d->codec);
}

void subtitle_event_free(SubtitleEvent *event)
{
    for (int i = 0; i < event->line_count; i++)
        av_free(event->lines[i]);
    for (int i = 0; i < event->bitmap_count; i++)
        av_free(event->bitmaps[i].pixels);
    av_free(event->lines);
    av_free(event->bitmaps);
    *event = (SubtitleEvent){0};
}

void subtitle_decoder_close(SubtitleDecoder **decoder)
{
    SubtitleDecoder *d = *decoder;
    if (!d)
        return;
    avcodec_free_context(&d->codec);
    packet_set_clear(&d->seen);
    av_freep(decoder);
}

#define FONT_TYPES                                                                                 \
    "application/x-truetype-font,application/x-font-ttf,application/x-font-otf,"                   \
    "application/x-font,application/font-sfnt,application/vnd.ms-opentype,"                        \
    "font/ttf,font/otf,font/sfnt,font/collection"

static bool is_font(const AVStream *stream)
{
    const AVDictionaryEntry *type = av_dict_get(stream->metadata, "mimetype", NULL, 0);
    const AVDictionaryEntry *name = av_dict_get(stream->metadata, "filename", NULL, 0);
    const char *dot = name ? strrchr(name->value, '.') : NULL;
    return (type && av_match_name(type->value, FONT_TYPES)) ||
           (dot && av_match_name(dot + 1, "ttf,otf,ttc,otc"));
}

int subtitle_font(const Source *source, int number, SubtitleFont *font)
{
    for (unsigned i = 0; i < source->stream_count; i++) {
        const AVStream *stream = source->format->streams[i];
        const AVCodecParameters *par = stream->codecpar;
        if (par->codec_type != AVMEDIA_TYPE_ATTACHMENT || !par->extradata ||
            par->extradata_size <= 0 || !is_font(stream) || number-- > 0)
            continue;
        const AVDictionaryEntry *name = av_dict_get(stream->metadata, "filename", NULL, 0);
        *font = (SubtitleFont){name ? name->value : "font", par->extradata, par->extradata_size};
        return 1;
    }
    return 0;
}
