#include "media/side_data.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/dovi_meta.h>

#define DISPLAY_MATRIX_SIZE (9 * sizeof(int32_t))

static const uint8_t *get(const AVStream *stream, enum AVPacketSideDataType type, size_t *size)
{
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
    *size = data ? data->size : 0;
    return data ? data->data : NULL;
#else
    return av_stream_get_side_data(stream, type, size);
#endif
}

static int set(AVStream *stream, enum AVPacketSideDataType type, const uint8_t *data, size_t size)
{
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    AVPacketSideData *entry = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, size, 0);
    uint8_t *copy = entry ? entry->data : NULL;
#else
    uint8_t *copy = av_stream_new_side_data(stream, type, size);
#endif
    if (!copy)
        return AVERROR(ENOMEM);
    memcpy(copy, data, size);
    return 0;
}

int side_data_copy_all(AVStream *to, const AVStream *from)
{
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
    for (int i = 0; i < from->nb_side_data; i++)
        if (set(to, from->side_data[i].type, from->side_data[i].data, from->side_data[i].size) < 0)
            return AVERROR(ENOMEM);
#else
    (void)to; /* these FFmpeg versions copy side data with the codec parameters */
    (void)from;
#endif
    return 0;
}

AVStream *side_data_copy_stream(AVFormatContext *to, const AVStream *from)
{
    AVStream *stream = avformat_new_stream(to, NULL);
    if (!stream || avcodec_parameters_copy(stream->codecpar, from->codecpar) < 0 ||
        side_data_copy_all(stream, from) < 0 ||
        av_dict_copy(&stream->metadata, from->metadata, 0) < 0)
        return NULL;
    stream->time_base = from->time_base;
    stream->disposition = from->disposition;
    stream->avg_frame_rate = from->avg_frame_rate;
    stream->r_frame_rate = from->r_frame_rate;
    stream->sample_aspect_ratio = from->sample_aspect_ratio;
    return stream;
}

int side_data_copy_lasting(AVStream *to, const AVStream *from)
{
    static const enum AVPacketSideDataType lasting[] = {
        AV_PKT_DATA_STEREO3D,
        AV_PKT_DATA_SPHERICAL,
        AV_PKT_DATA_MASTERING_DISPLAY_METADATA,
        AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
        AV_PKT_DATA_ICC_PROFILE,
        AV_PKT_DATA_REPLAYGAIN,
        AV_PKT_DATA_AUDIO_SERVICE_TYPE,
    };
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
        size_t size;
        const uint8_t *data = get(from, lasting[i], &size);
        if (data && set(to, lasting[i], data, size) < 0)
            return AVERROR(ENOMEM);
    }
    return 0;
}

int side_data_keep(AVStream *stream, const AVCodecContext *encoder)
{
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    AVCodecParameters *par = stream->codecpar;
    AVPacketSideData *kept = par->coded_side_data;
    const int count = par->nb_coded_side_data;
    par->coded_side_data = NULL; /* else it would be freed with the old parameters */
    par->nb_coded_side_data = 0;
    const int ret = avcodec_parameters_from_context(par, encoder);
    av_packet_side_data_free(&par->coded_side_data, &par->nb_coded_side_data);
    par->coded_side_data = kept;
    par->nb_coded_side_data = count;
    return ret;
#else
    return avcodec_parameters_from_context(stream->codecpar, encoder);
#endif
}

/* Side data with the same layout for frames and tracks. */
static const struct {
    enum AVFrameSideDataType frame;
    enum AVPacketSideDataType track;
} pairs[] = {
    {AV_FRAME_DATA_DISPLAYMATRIX, AV_PKT_DATA_DISPLAYMATRIX},
    {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D},
    {AV_FRAME_DATA_SPHERICAL, AV_PKT_DATA_SPHERICAL},
    {AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_MASTERING_DISPLAY_METADATA},
    {AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL},
};

#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

int side_data_from_frame(AVStream *to, const AVFrame *frame)
{
    for (size_t i = 0; i < PAIRS; i++) {
        size_t size;
        const AVFrameSideData *data = av_frame_get_side_data(frame, pairs[i].frame);
        if (data && !get(to, pairs[i].track, &size) &&
            set(to, pairs[i].track, data->data, data->size) < 0)
            return AVERROR(ENOMEM);
    }
    return 0;
}

int side_data_to_frame(AVFrame *to, const AVStream *from)
{
    for (size_t i = 0; i < PAIRS; i++) {
        size_t size;
        const uint8_t *data = get(from, pairs[i].track, &size);
        if (!data || av_frame_get_side_data(to, pairs[i].frame))
            continue;
        AVFrameSideData *entry = av_frame_new_side_data(to, pairs[i].frame, size);
        if (!entry)
            return AVERROR(ENOMEM);
        memcpy(entry->data, data, size);
    }
    return 0;
}

const int32_t *side_data_display_matrix(const AVStream *stream)
{
    size_t size;
    const uint8_t *data = get(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= DISPLAY_MATRIX_SIZE ? (const int32_t *)data : NULL;
}

int side_data_frame_matrix(const AVFrame *frame, int32_t matrix[9])
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    if (!data || data->size < DISPLAY_MATRIX_SIZE)
        return 0;
    memcpy(matrix, data->data, DISPLAY_MATRIX_SIZE);
    return 1;
}

int side_data_orient(AVFrame *frame, const AVStream *track)
{
    const int32_t *of_track = side_data_display_matrix(track);
    /* The matrix's upper left 2x2 part for EXIF's Orientation 2 to 8 (EXIF 2.3, 4.6.4). */
    static const int matrices[][4] = {{-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1}, {0, 1, 1, 0},
                                      {0, 1, -1, 0}, {0, -1, -1, 0}, {0, -1, 1, 0}};
    const AVDictionaryEntry *tag = av_dict_get(frame->metadata, "Orientation", NULL, 0);
    const long number = tag ? strtol(tag->value, NULL, 10) : 0;
    const int *exif = number >= 2 && number <= 8 ? matrices[number - 2] : NULL;
    if ((!exif && !of_track) || av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX))
        return 0;
    const AVFrameSideData *data =
        av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, DISPLAY_MATRIX_SIZE);
    if (!data)
        return AVERROR(ENOMEM);
    int32_t matrix[9] = {0};
    for (int i = 0; exif && i < 4; i++)
        matrix[i / 2 * 3 + i % 2] = exif[i] * (1 << 16);
    matrix[8] = 1 << 30;
    memcpy(data->data, exif ? matrix : of_track, DISPLAY_MATRIX_SIZE);
    return 0;
}

int side_data_dolby_vision_profile(const AVStream *stream)
{
    size_t size;
    const uint8_t *data = get(stream, AV_PKT_DATA_DOVI_CONF, &size);
    AVDOVIDecoderConfigurationRecord record;
    if (!data || size < sizeof(record))
        return 0;
    memcpy(&record, data, sizeof(record));
    return record.dv_profile;
}

const char *side_data_drop_dynamic(AVFrame *frame)
{
    static const struct {
        enum AVFrameSideDataType type;
        const char *name;
    } dynamic[] = {
        {AV_FRAME_DATA_DYNAMIC_HDR_PLUS, "HDR10+"},
        {AV_FRAME_DATA_DYNAMIC_HDR_VIVID, "HDR Vivid"},
        {AV_FRAME_DATA_DOVI_RPU_BUFFER, "Dolby Vision"},
        {AV_FRAME_DATA_DOVI_METADATA, "Dolby Vision"},
    };
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(dynamic) / sizeof(dynamic[0]); i++)
        if (av_frame_get_side_data(frame, dynamic[i].type)) {
            av_frame_remove_side_data(frame, dynamic[i].type);
            found = dynamic[i].name;
        }
    return found;
}
