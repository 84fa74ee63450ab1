#include "media/writer.h"

#include <stdarg.h>
#include <string.h>

#include <libavutil/avstring.h>

#include "media/compat.h"
#include "media/log.h"
#include "media/output_file.h"

/* An input stream as the sink knows it: the input itself belongs to the thread that reads it. */
typedef struct Copy {
    AVStream *out; /* NULL: not copied */
    AVRational time_base;
    int64_t last_dts; /* in out's time base; AV_NOPTS_VALUE: none yet */
} Copy;

struct Writer {
    const WriterOptions *options;
    const AVOutputFormat *muxer;
    const AVCodec *codec;
    OutputFile file;
    AVFormatContext *format;
    Encoder *encoder;
    AVStream *video;
    AVPacket *packet;
    Copy *copies; /* by input stream */
    int copy_count;
    EncoderTrack track;
    int header_written;
    int64_t bytes; /* once the file is closed */
    char *partial_name;
    AVPacket **held; /* packets that came before the first frame */
    int held_count;
};

static void note(const Writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(const Writer *w, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (w->options->note)
        w->options->note(line);
}

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "out of memory");
}

/* A muxer by its name in FFmpeg or by the usual extension of its files. */
static const AVOutputFormat *find_muxer(const char *name)
{
    const AVOutputFormat *muxer = av_guess_format(name, NULL, NULL);
    char file[64];
    snprintf(file, sizeof(file), "x.%s", name);
    return muxer ? muxer : av_guess_format(NULL, file, NULL);
}

static int choose_muxer(Writer *w, MediaError *error)
{
    const char *name = w->options->format;
    if (!name && strcmp(w->options->path, "-") == 0)
        name = "yuv4mpegpipe";
    if (name)
        w->muxer = find_muxer(name);
    else
        w->muxer = av_guess_format(NULL, w->options->path, NULL);
    if (!w->muxer && name)
        return media_fail(error, MEDIA_USAGE, "--format %s: this FFmpeg has no such container",
                          media_quote(name));
    if (!w->muxer)
        return media_fail(error, MEDIA_USAGE,
                          "no container is known by the name of %s; end it in .mp4, .mkv, .webm, "
                          ".mov or .y4m, or name one with --format",
                          media_quote(w->options->path));
    if (w->muxer->flags & AVFMT_NOFILE)
        return media_fail(
            error, MEDIA_USAGE,
            "the container %s opens files of its own and is not written; use mp4, mkv, "
            "webm, mov or y4m",
            w->muxer->name);
    return 0;
}

int writer_create(Writer **writer, const WriterOptions *options, const struct stat *input,
                  MediaError *error)
{
    *writer = NULL;
    Writer *w = av_mallocz(sizeof(*w));
    if (!w)
        return out_of_memory(error);
    w->options = options;
    w->file.stop = options->stop;
    w->bytes = -1;
    int ret = choose_muxer(w, error);
    if (ret >= 0)
        ret = encoder_find(&w->codec, &options->video, w->muxer, error);
    if (ret >= 0)
        ret = output_file_check(&w->file, options->path, options->overwrite, input, error);
    w->packet = av_packet_alloc();
    if (ret >= 0 && !w->packet)
        ret = out_of_memory(error);
    if (ret < 0)
        writer_close(&w);
    *writer = w;
    return ret;
}

/* What describes the old file and not its content. */
static void drop_container_tags(AVDictionary **metadata)
{
    static const char *const tags[] = {"major_brand", "minor_version", "compatible_brands",
                                       "encoder"};
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        av_dict_set(metadata, tags[i], NULL, 0);
}

static const char *type_name(const AVStream *stream)
{
    const char *name = av_get_media_type_string(stream->codecpar->codec_type);
    return name ? name : "unknown";
}

/* For muxers that cannot be asked what they hold: what is known of Ogg; of others, that those which
 * hold a type of stream at all have a usual codec for it. */
static int may_hold(const AVOutputFormat *muxer, const AVCodecParameters *par)
{
    const enum AVCodecID id = par->codec_id;
    if (av_match_name(muxer->name, "ogg,oga,ogv,spx,opus"))
        return id == AV_CODEC_ID_VORBIS || id == AV_CODEC_ID_OPUS || id == AV_CODEC_ID_FLAC ||
               id == AV_CODEC_ID_SPEEX;
    return (par->codec_type == AVMEDIA_TYPE_AUDIO ? muxer->audio_codec : muxer->subtitle_codec) !=
           AV_CODEC_ID_NONE;
}

/* NULL: the stream can be copied; else why not. */
static const char *why_not(const Writer *w, const AVStream *stream)
{
    const enum AVMediaType type = stream->codecpar->codec_type;
    if (type == AVMEDIA_TYPE_AUDIO && !w->options->copy_audio)
        return "--acodec none";
    if (type == AVMEDIA_TYPE_ATTACHMENT)
        return av_match_name("matroska", w->muxer->name) ? NULL
                                                         : "the container holds no attachments";
    if (type != AVMEDIA_TYPE_AUDIO && type != AVMEDIA_TYPE_SUBTITLE)
        return "only sound, subtitles and attachments are copied";
    if (type == AVMEDIA_TYPE_AUDIO && w->muxer->audio_codec == AV_CODEC_ID_NONE)
        return "the container holds no sound";
    const int holds =
        avformat_query_codec(w->muxer, stream->codecpar->codec_id, FF_COMPLIANCE_EXPERIMENTAL);
    if (holds == 0 || (holds < 0 && !may_hold(w->muxer, stream->codecpar)))
        return "the container does not hold this codec";
    return NULL;
}

static int add_copy(Writer *w, const AVStream *in, MediaError *error)
{
    AVStream *out = avformat_new_stream(w->format, NULL);
    if (!out || avcodec_parameters_copy(out->codecpar, in->codecpar) < 0 ||
        av_dict_copy(&out->metadata, in->metadata, 0) < 0)
        return out_of_memory(error);
    /* A tag of another container may mean something else, or nothing, in this one. */
    unsigned tag = 0;
    if (w->muxer->codec_tag &&
        av_codec_get_id(w->muxer->codec_tag, in->codecpar->codec_tag) != in->codecpar->codec_id &&
        av_codec_get_tag2(w->muxer->codec_tag, in->codecpar->codec_id, &tag))
        out->codecpar->codec_tag = 0;
    out->time_base = in->time_base;
    out->disposition = in->disposition;
    w->copies[in->index].out = out;
    return 0;
}

static int add_video(Writer *w, const Source *source, MediaError *error)
{
    AVStream *in = source->video;
    w->track = (EncoderTrack){
        .time_base = in->time_base,
        .frame_rate = av_guess_frame_rate(source->format, in, NULL),
        .aspect = in->sample_aspect_ratio,
    };
    w->video = avformat_new_stream(w->format, NULL);
    if (!w->video || av_dict_copy(&w->video->metadata, in->metadata, 0) < 0 ||
        copy_side_data(w->video, in, AV_PKT_DATA_DISPLAYMATRIX) < 0)
        return out_of_memory(error);
    drop_container_tags(&w->video->metadata);
    w->video->disposition = in->disposition;
    return 0;
}

static int map_streams(Writer *w, const Source *source, MediaError *error)
{
    for (int i = 0; i < w->copy_count; i++) {
        AVStream *in = source->format->streams[i];
        w->copies[i] = (Copy){.time_base = in->time_base, .last_dts = AV_NOPTS_VALUE};
        const char *reason = in == source->video ? NULL : why_not(w, in);
        int ret = 0;
        if (in == source->video)
            ret = add_video(w, source, error);
        else if (!reason)
            ret = add_copy(w, in, error);
        if (ret < 0)
            return ret;
        if (!reason)
            continue;
        in->discard = AVDISCARD_ALL;
        note(w, "%s track %d (%s) is left out: %s", type_name(in), i,
             avcodec_get_name(in->codecpar->codec_id), reason);
    }
    return 0;
}

int writer_map(Writer *w, const Source *source, MediaError *error)
{
    const int ret = avformat_alloc_output_context2(&w->format, w->muxer, NULL, NULL);
    w->copy_count = (int)source->format->nb_streams;
    w->copies = av_calloc((size_t)w->copy_count, sizeof(*w->copies));
    if (ret < 0 || !w->copies ||
        av_dict_copy(&w->format->metadata, source->format->metadata, 0) < 0)
        return out_of_memory(error);
    drop_container_tags(&w->format->metadata);
    w->format->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL; /* FLAC in mp4 */
    return map_streams(w, source, error);
}

static int fail_write(Writer *w, int ret, MediaError *error)
{
    const char *detail = media_log_error();
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s%s%s", media_quote(w->file.path),
                      media_av_text(ret), detail[0] ? "; " : "", detail);
}

static int mux(Writer *w, AVPacket *packet, const AVStream *out, MediaError *error)
{
    packet->stream_index = out->index;
    packet->pos = -1;
    media_log_clear();
    const int ret = av_interleaved_write_frame(w->format, packet);
    return ret < 0 ? fail_write(w, ret, error) : 0;
}

/* Muxers take no packet without a time, nor one that goes back: damaged files have both. */
static void mend_times(Copy *copy, AVPacket *packet)
{
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = packet->pts;
    if (copy->last_dts != AV_NOPTS_VALUE &&
        (packet->dts == AV_NOPTS_VALUE || packet->dts <= copy->last_dts))
        packet->dts = copy->last_dts + 1;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = 0;
    if (packet->pts == AV_NOPTS_VALUE || packet->pts < packet->dts)
        packet->pts = packet->dts;
    copy->last_dts = packet->dts;
}

static int write_copied(Writer *w, AVPacket *packet, MediaError *error)
{
    Copy *copy = &w->copies[packet->stream_index];
    av_packet_rescale_ts(packet, copy->time_base, copy->out->time_base);
    mend_times(copy, packet);
    return mux(w, packet, copy->out, error);
}

static int write_encoded(Writer *w, MediaError *error)
{
    for (;;) {
        int ret = encoder_receive(w->encoder, w->packet, error);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return 0;
        if (ret < 0)
            return ret;
        av_packet_rescale_ts(w->packet, encoder_context(w->encoder)->time_base,
                             w->video->time_base);
        ret = mux(w, w->packet, w->video, error);
        if (ret < 0)
            return ret;
    }
}

static int set_up_video(Writer *w, MediaError *error)
{
    const AVCodecContext *c = encoder_context(w->encoder);
    if (avcodec_parameters_from_context(w->video->codecpar, c) < 0)
        return out_of_memory(error);
    w->video->time_base = c->time_base;
    w->video->avg_frame_rate = c->framerate;
    w->video->sample_aspect_ratio = c->sample_aspect_ratio;
    return 0;
}

static int write_header(Writer *w, MediaError *error)
{
    int ret = set_up_video(w, error);
    if (ret < 0)
        return ret;
    ret = output_file_open(&w->file, error);
    if (ret < 0)
        return ret;
    w->format->pb = w->file.io;
    media_log_clear();
    ret = avformat_write_header(w->format, NULL);
    if (ret < 0)
        return fail_write(w, ret, error);
    w->header_written = 1;
    for (int i = 0; i < w->held_count; i++) {
        ret = write_copied(w, w->held[i], error);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int start(Writer *w, const AVFrame *first, MediaError *error)
{
    const int global_header = (w->muxer->flags & AVFMT_GLOBALHEADER) != 0;
    const int ret = encoder_open(&w->encoder, w->codec, &w->options->video, first, &w->track,
                                 global_header, error);
    if (ret < 0)
        return ret;
    const char *adaptation = encoder_adaptation(w->encoder);
    if (adaptation)
        note(w, "frames are %s for %s", adaptation, w->codec->name);
    if (codec_frame_rates(w->codec))
        note(w, "%s has fixed frame rates only: frames are timed at %.3f a second", w->codec->name,
             av_q2d(encoder_context(w->encoder)->framerate));
    return write_header(w, error);
}

int writer_frame(Writer *w, const AVFrame *frame, MediaError *error)
{
    int ret = w->encoder ? 0 : start(w, frame, error);
    if (ret >= 0)
        ret = encoder_send(w->encoder, frame, error);
    return ret < 0 ? ret : write_encoded(w, error);
}

static int hold(Writer *w, AVPacket *packet, MediaError *error)
{
    AVPacket *kept = av_packet_alloc();
    if (!kept)
        return out_of_memory(error);
    av_packet_move_ref(kept, packet);
    if (av_dynarray_add_nofree(&w->held, &w->held_count, kept) < 0) {
        av_packet_free(&kept);
        return out_of_memory(error);
    }
    return 0;
}

int writer_packet(Writer *w, AVPacket *packet, MediaError *error)
{
    if (!w->copies[packet->stream_index].out)
        return 0;
    return w->header_written ? write_copied(w, packet, error) : hold(w, packet, error);
}

/* A muxer may have gone back to the header last. */
static int64_t written(AVIOContext *io)
{
    const int64_t size = (io->seekable & AVIO_SEEKABLE_NORMAL) ? avio_size(io) : -1;
    const int64_t at = avio_tell(io);
    return size > at ? size : at;
}

int writer_finish(Writer *w, int partial, MediaError *error)
{
    if (!w->header_written)
        return 0;
    int ret = encoder_send(w->encoder, NULL, error);
    if (ret >= 0)
        ret = write_encoded(w, error);
    if (ret < 0)
        return ret;
    media_log_clear();
    ret = av_write_trailer(w->format);
    w->header_written = 0;
    if (ret < 0)
        return fail_write(w, ret, error);
    w->format->pb = NULL;
    w->bytes = written(w->file.io);
    if (partial)
        w->partial_name = output_file_partial_name(&w->file);
    return output_file_commit(&w->file, partial, error);
}

int64_t writer_bytes(const Writer *w)
{
    return w->file.io ? written(w->file.io) : w->bytes;
}

const char *writer_partial_name(const Writer *w)
{
    return w->partial_name;
}

void writer_close(Writer **writer)
{
    Writer *w = *writer;
    if (!w)
        return;
    encoder_close(&w->encoder);
    if (w->format)
        w->format->pb = NULL;
    avformat_free_context(w->format);
    output_file_close(&w->file);
    for (int i = 0; i < w->held_count; i++)
        av_packet_free(&w->held[i]);
    av_freep(&w->held);
    av_freep(&w->copies);
    av_freep(&w->partial_name);
    av_packet_free(&w->packet);
    av_freep(writer);
}
