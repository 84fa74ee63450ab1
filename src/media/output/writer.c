#include "media/output/writer.h"
#include "media/convert.h"
#include "media/output/encoder_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/display.h>
#include <libavutil/fifo.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "media/activity.h"
#include "media/compat.h"
#include "media/log.h"
#include "media/output/container.h"
#include "media/output/encoder.h"
#include "media/output/output_file.h"
#include "media/output/picture_file.h"
#include "media/output/segments.h"
#include "media/output/tags.h"
#include "media/output/turner.h"
#include "media/packet_set.h"
#include "media/picture_pattern.h"
#include "media/side_data.h"

/* With low latency, the muxer waits at most this long for a packet of another track. */
#define LATENCY_US 100000

/* AVI files get USUAL_CONSTANT_RATE if FFmpeg reports a frame rate above MAX_CONSTANT_RATE, because
 * such a rate may be the frequency of the source's clock. */
#define MAX_CONSTANT_RATE 120
#define USUAL_CONSTANT_RATE 60

/* Packets that arrive before the first frame: initial capacity of the queue, and maximum bytes,
 * enough for 40 minutes of uncompressed stereo sound. */
#define HELD_PACKETS 256
#define HELD_BYTES (512 << 20)

/* Largest rounding error of a duration, in ticks of the source's clock. */
#define ROUNDING_TICKS 2

/* Largest relative difference between two estimates of a steady rate. */
#define RATE_TOLERANCE 0.0005

/* Relative error of a rate that was stored as a duration or a fraction of small numbers. */
#define RATE_ROUNDING 1e-5

/* Maximum number of ticks per second in an mp4, because some players use 32 bits for times. */
#define MAX_TICKS 1000000

struct Writer {
    const WriterOptions *options;
    const AVOutputFormat *muxer;
    const AVCodec *codec;
    EncoderOptions encoding; /* options->video, completed by encoder_choose_default() */
    OutputFile file;
    AVFormatContext *format;
    Encoder *encoder;
    Turner *turner; /* NULL: frames are not turned */
    AVFrame *turned;
    PictureTurn turn; /* of the first frame */
    int turn_noted;   /* the note about a different turn was given */
    AVStream *video;
    AVRational copy_base; /* time base of the video's packets if they are copied */
    AVPacket *packet;
    Tracks *tracks;
    EncoderTrack track;
    PictureSequence pictures; /* for options->sequence, instead of `file` */
    int header_written;
    int sent;          /* a frame was sent to the encoder */
    char about[96];    /* see writer_video() */
    int dynamic_noted; /* the note about dropped dynamic HDR was given */
    int user_data_noted, captions_noted, fields_noted;
    int64_t bytes;        /* size of the closed file */
    int64_t lost_packets; /* packets that the muxer refused */
    int64_t refused_at;   /* number of video packets before the last refusal */
    AVFifo *held;         /* AVPacket *: packets that came before the first frame */
    size_t held_bytes;    /* sum of packet_bytes() of `held` */
    Segments *segments;   /* NULL: one file */
    /* For mp4 and mov. `rate`: frames per second of a source whose clock rounds times, or {0};
     * `grid_start`: time of the first frame; `last_dts`: of the last packet. */
    AVRational rate;
    int64_t grid_start, last_dts;
    int64_t start_pts; /* for segments: time of the first picture, in start_base */
    AVRational start_base;
    int64_t last_duration; /* of the last packet written */
    /* At a constant rate: time and index of the first frame, index of the last frame, lowest index
     * of the next packet, and number of dropped frames. */
    int64_t first_pts, first_index, last_index, next_index, dropped;
};

int writer_create(Writer **writer, const WriterOptions *options, const struct stat *input,
                  MediaError *error)
{
    *writer = NULL;
    Writer *w = av_mallocz(sizeof(*w));
    if (!w)
        return media_no_memory(error, MEDIA_OUTPUT);
    w->options = options;
    w->encoding = options->video;
    w->file.stop = options->stop;
    w->file.whole = options->whole;
    w->file.opaque = options->whole_opaque;
    w->bytes = -1;
    const char *name = options->format;
    if (!name && strcmp(options->path, "-") == 0)
        name = "yuv4mpegpipe";
    if (options->sequence) /* the muxer of single pictures */
        name = "image2pipe";
    w->pictures.pattern = options->path;
    w->packet = av_packet_alloc();
    int ret = w->packet ? 0 : media_no_memory(error, MEDIA_OUTPUT);
    if (ret < 0 ||
        (options->sequence &&
         picture_sequence_check(options->path, options->overwrite, error) < 0) ||
        container_find(&w->muxer, name, options->path, error) < 0 ||
        (!options->copy_video &&
         encoder_find(&w->codec, &options->video, w->muxer, options->path, error) < 0) ||
        tracks_check(&options->tracks, w->muxer, error) < 0 ||
        (!options->sequence &&
         output_file_check(&w->file, options->path, options->overwrite, input, error) < 0))
        ret = error->fault;
    else if (!options->sequence && output_file_is_terminal(&w->file))
        ret = media_fail(error, MEDIA_USAGE,
                         "-o %s would write video to the terminal; send it to a program, as in "
                         "lumeq in.mkv -o - | mpv -, or to a file",
                         strcmp(options->path, "-") == 0 ? "-" : media_quote(options->path));
    else if (options->segments.seconds > 0 && (writer_is_direct(w) || writer_is_picture(w)))
        ret = media_fail(
            error, MEDIA_USAGE, "--segment-time needs a video file as output: %s is %s",
            media_quote(options->path), writer_is_picture(w) ? "a picture" : "not a file");
    else if (options->segments.seconds > 0)
        ret = segments_create(&w->segments, &options->segments, error);
    if (ret < 0)
        writer_close(&w);
    *writer = w;
    return ret;
}

static int map_copy(Writer *w, const AVStream *in, MediaError *error)
{
    const AVCodecParameters *par = in->codecpar;
    AVCodecParameters *to = w->video->codecpar;
    if (!container_takes_stream(w->muxer, in))
        return media_fail(error, MEDIA_USAGE,
                          "%s: the container %s cannot hold %s as it is; %s can",
                          media_quote(w->options->path), w->muxer->name, codec_name(par),
                          par->codec_id == AV_CODEC_ID_RAWVIDEO ? "nut" : "mkv");
    if (avcodec_parameters_copy(to, par) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    to->codec_tag = container_tag(w->muxer, par);
    w->video->time_base = w->copy_base = in->time_base;
    w->video->avg_frame_rate = in->avg_frame_rate;
    w->video->sample_aspect_ratio = in->sample_aspect_ratio;
    return side_data_copy_all(w->video, in) < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
}

/* The source's frame rate if FFmpeg's two estimates agree, else {0}. */
static AVRational declared_rate(const AVStream *in)
{
    const AVRational a = in->avg_frame_rate, r = in->r_frame_rate;
    if (a.num <= 0 || a.den <= 0 || r.num <= 0 || r.den <= 0)
        return (AVRational){0};
    for (int fields = 1; fields <= 2; fields++) /* r may count the fields of interlaced video */
        if (fabs(av_q2d(a) * fields / av_q2d(r) - 1) < RATE_TOLERANCE) {
            /* Matroska rounds durations to ns. Replace the resulting rates by the usual ones. */
            const AVRational rate = av_div_q(r, (AVRational){fields, 1});
            const AVRational whole = {(int)lrint(av_q2d(rate)), 1};
            const AVRational ntsc = {(int)lrint(av_q2d(rate) * 1.001) * 1000, 1001};
            if (fabs(av_q2d(whole) / av_q2d(rate) - 1) < RATE_ROUNDING)
                return whole;
            return fabs(av_q2d(ntsc) / av_q2d(rate) - 1) < RATE_ROUNDING ? ntsc : rate;
        }
    return (AVRational){0};
}

int writer_map(Writer *w, const Source *source, MediaError *error)
{
    AVStream *in = source->video;
    if (w->options->sequence &&
        picture_sequence_check_inputs(w->options->path, &source->pictures, error) < 0)
        return error->fault;
    /* Some muxers depend on the name: .m2ts and .ts have different packets. The picture muxer gets
     * none, because it would read the name as a pattern. */
    const char *name = container_is_picture(w->muxer) ? NULL : w->options->path;
    if (avformat_alloc_output_context2(&w->format, w->muxer, NULL, name) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (w->options->low_latency) {
        w->format->flags |= AVFMT_FLAG_FLUSH_PACKETS;
        w->format->max_interleave_delta = LATENCY_US;
    }
    w->dynamic_noted = side_data_dolby_vision_profile(in) != 0; /* the source has given this note */
    w->format->strict_std_compliance = container_compliance(w->muxer);
    w->track = (EncoderTrack){
        .time_base = in->time_base,
        .frame_rate = av_guess_frame_rate(source->format, in, NULL),
        .field_order = w->encoding.deinterlaced ? AV_FIELD_PROGRESSIVE : in->codecpar->field_order,
        /* Only Matroska can hold the alpha that VP8 and VP9 store beside their packets. */
        .no_alpha = w->codec &&
                    (w->codec->id == AV_CODEC_ID_VP8 || w->codec->id == AV_CODEC_ID_VP9) &&
                    !av_match_name(w->muxer->name, "matroska,webm"),
    };
    w->rate = declared_rate(in);
    w->track.constant_rate = strcmp(w->muxer->name, "avi") == 0;
    if (w->track.constant_rate) {
        if (w->track.frame_rate.num <= 0 || w->track.frame_rate.den <= 0)
            w->track.frame_rate = (AVRational){25, 1};
        else if (av_q2d(w->track.frame_rate) > MAX_CONSTANT_RATE)
            w->track.frame_rate = (AVRational){USUAL_CONSTANT_RATE, 1};
        w->track.time_base = av_inv_q(w->track.frame_rate);
        w->format->avoid_negative_ts = 0; /* otherwise priming samples delay the video by a frame */
    }
    if (w->codec)
        encoder_choose_default(&w->codec, &w->encoding, w->muxer,
                               convert_nearest_direct(in->codecpar->format), in->codecpar->width,
                               in->codecpar->height);
    const int ret =
        tracks_map(&w->tracks, &w->options->tracks, w->format, source, &w->video, error);
    return ret >= 0 && w->options->copy_video ? map_copy(w, in, error) : ret;
}

void writer_set_start(Writer *w, int64_t zero)
{
    chapters_move(w->format, -zero);
}

static int mux(void *opaque, AVPacket *packet, const AVStream *out, MediaError *error)
{
    Writer *w = opaque;
    packet->stream_index = out->index;
    packet->pos = -1;
    media_log_clear();
    activity_note();
    if (w->segments)
        return segments_write(w->segments, packet, out, error);
    const int ret = av_interleaved_write_frame(w->format, packet);
    /* The muxer refused a damaged copied packet: this packet or a queued one. For video, this is an
     * error if the muxer has accepted no video packet since the last refusal. */
    if (output_file_refuses(ret) && (out != w->video || w->video->nb_frames > w->refused_at)) {
        w->refused_at = w->video->nb_frames;
        w->lost_packets++;
        return 0;
    }
    return ret < 0 ? output_file_fail(&w->file, ret, error) : 0;
}

static int write_encoded(Writer *w, MediaError *error)
{
    for (;;) {
        int ret = encoder_receive(w->encoder, w->packet, error);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return 0;
        if (ret < 0)
            return ret;
        ret = w->options->take_encoded
                  ? w->options->take_encoded(w->options->take_opaque, w->packet, error)
                  : 0;
        if (ret >= 0 && (!w->options->take_encoded || w->options->count_only))
            ret = writer_encoded(w, w->packet, error);
        av_packet_unref(w->packet);
        if (ret < 0)
            return ret;
        if (w->options->encoded)
            w->options->encoded(w->options->encoded_opaque);
    }
}

/* If the source's clock rounds the times of a constant rate (for example, 30 frames per second in
 * ms), chooses a time base that can express both the rate and the source's times exactly. */
static void choose_grid(Writer *w)
{
    const AVRational from = w->video->time_base, rate = w->rate;
    w->rate = (AVRational){0};
    if (!rate.num || from.num != 1 || w->segments || w->track.constant_rate ||
        !container_is_mp4(w->muxer))
        return;
    const int64_t ticks = (int64_t)from.den / av_gcd(from.den, rate.num) * rate.num;
    const bool is_exact = (int64_t)from.den * rate.den % rate.num == 0;
    if (is_exact || ticks > MAX_TICKS || av_q2d(av_mul_q(rate, from)) * 4 * ROUNDING_TICKS > 1)
        return;
    w->rate = rate;
    w->last_dts = INT64_MIN;
    w->video->time_base = (AVRational){1, (int)ticks};
}

/* Converts a time to the track's time base. Corrects the rounding of the source's clock, so that
 * frames at the declared rate get exact times. */
static int64_t snap(const Writer *w, int64_t time, AVRational from)
{
    const AVRational to = w->video->time_base, step = av_inv_q(w->rate);
    const int64_t own = av_rescale_q(time, from, to), start = av_rescale_q(w->grid_start, from, to);
    const int64_t even = start + av_rescale_q(av_rescale_q(own - start, to, step), step, to);
    return llabs(even - own) <= av_rescale_q(ROUNDING_TICKS, from, to) ? even : own;
}

static void snap_packet(Writer *w, AVPacket *packet, AVRational from)
{
    const bool is_first = w->last_dts == INT64_MIN;
    const int64_t next = packet->dts + packet->duration;
    if (is_first)
        w->grid_start = packet->pts;
    packet->duration = snap(w, next, from) - snap(w, packet->dts, from);
    packet->pts = snap(w, packet->pts, from);
    packet->dts = snap(w, packet->dts, from);
    if (!is_first && packet->dts <= w->last_dts)
        packet->dts = w->last_dts + 1;
    packet->pts = FFMAX(packet->pts, packet->dts);
    w->last_dts = packet->dts;
}

int writer_encoded(Writer *w, AVPacket *packet, MediaError *error)
{
    if (!w->about[0])
        encoder_describe(encoder_context(w->encoder), packet, w->about, sizeof(w->about));
    if (w->options->sequence)
        return picture_sequence_write(&w->pictures, packet, error);
    if (w->track.constant_rate) {
        /* A part may begin with the last index of the previous part. */
        packet->pts = packet->dts = FFMAX(packet->dts, w->next_index);
        w->next_index = packet->dts + 1;
    }
    if (w->rate.num)
        snap_packet(w, packet, writer_encoded_base(w));
    else
        av_packet_rescale_ts(packet, writer_encoded_base(w), w->video->time_base);
    w->last_duration = av_clip64(packet->duration, 0, INT32_MAX);
    return mux(w, packet, w->video, error);
}

AVRational writer_encoded_base(const Writer *w)
{
    return encoder_context(w->encoder)->time_base;
}

const uint8_t *writer_extradata(const Writer *w, int *size)
{
    const AVCodecContext *c = encoder_context(w->encoder);
    *size = c->extradata ? c->extradata_size : 0;
    return c->extradata;
}

/* Moves the index of mp4 and mov to the front, so that browsers can play an incomplete download.
 * The muxer reads the file back through /proc, because the temporary file may be renamed meanwhile.
 * Segments are left as they are, because moving their index would double the disk traffic. */
static int set_faststart(Writer *w, AVDictionary **options)
{
    char path[32];
    if (!container_is_mp4(w->muxer) || w->segments || w->options->count_only || !w->file.temp.name)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", w->file.temp.fd);
    if (access(path, R_OK) < 0)
        return 0;
    av_free(w->format->url);
    w->format->url = av_asprintf("file:%s", path);
    return w->format->url ? av_dict_set(options, "movflags", "+faststart", AV_DICT_APPEND)
                          : AVERROR(ENOMEM);
}

static int set_muxer_options(Writer *w, AVDictionary **options)
{
    int ret = set_faststart(w, options);
    if (ret >= 0 && tags_want_keys(w->format) &&
        (ret = tags_name_for_quicktime(&w->format->metadata)) >= 0)
        ret = av_dict_set(options, "movflags", "+use_metadata_tags", AV_DICT_APPEND);
    const char *format = w->options->format;
    if (ret >= 0 && format && strcmp(w->muxer->name, "mpegts") == 0 && strcmp(format, "m2ts") == 0)
        ret = av_dict_set(options, "mpegts_m2ts_mode", "1", 0);
    if (ret < 0)
        return ret;
    if (w->options->low_latency && strcmp(w->muxer->name, "mpegts") == 0)
        return av_dict_set(options, "pes_payload_size", "0",
                           0); /* one sound frame per PES packet, without delay */
    if (strcmp(w->muxer->name, "apng") == 0)
        return av_dict_set(options, "plays", "0", 0); /* loop forever, like a GIF */
    return 0;
}

static int hold(Writer *w, AVPacket *packet, MediaError *error)
{
    w->held_bytes += packet_bytes(packet);
    if (w->held_bytes > HELD_BYTES)
        return media_fail(error, MEDIA_INPUT,
                          "more than %d MiB of sound and other tracks come before the first "
                          "picture; start later with --ss",
                          HELD_BYTES >> 20);
    AVPacket *own = av_packet_alloc();
    if (!w->held)
        w->held = av_fifo_alloc2(HELD_PACKETS, sizeof(own), AV_FIFO_FLAG_AUTO_GROW);
    if (w->held)
        av_fifo_auto_grow_limit(w->held, SIZE_MAX);
    if (!own || !w->held || av_fifo_write(w->held, &own, 1) < 0) {
        av_packet_free(&own);
        return media_no_memory(error, MEDIA_OUTPUT);
    }
    av_packet_move_ref(own, packet);
    return 0;
}

/* Writes the held packets, or frees them if `ret` is an error. */
static int release(Writer *w, int ret, MediaError *error)
{
    AVPacket *packet;
    while (w->held && av_fifo_read(w->held, &packet, 1) >= 0) {
        if (ret >= 0)
            ret = tracks_packet(w->tracks, packet, error);
        av_packet_free(&packet);
    }
    return ret;
}

static int write_header(Writer *w, MediaError *error)
{
    AVDictionary *options = NULL;
    int ret = 0;
    if (!w->segments && w->options->count_only)
        ret = output_file_open_null(&w->file, error);
    else if (!w->segments)
        ret = output_file_open(&w->file, error);
    if (ret < 0)
        return ret;
    w->format->pb = w->file.io;
    media_log_clear();
    ret = set_muxer_options(w, &options);
    if (ret >= 0 && w->segments)
        ret = segments_start(w->segments, w->format, w->video, options, w->start_pts, w->start_base,
                             error);
    else if (ret >= 0)
        ret = avformat_write_header(w->format, &options);
    av_dict_free(&options);
    if (ret < 0)
        return output_file_fail(&w->file, ret, error);
    w->header_written = 1;
    ret = tracks_start(w->tracks, mux, w, error);
    return release(w, ret, error);
}

static void note_adaptation(const Writer *w, const AVFrame *first)
{
    const char *adaptation = encoder_notes(w->encoder)->adaptation;
    const char *why = "";
    EncoderOptions kept = w->encoding;
    enum AVPixelFormat nearest;
    MediaError none = {0};
    kept.keep_format = 1;
    if (!adaptation)
        return;
    if (w->encoding.eight_bits)
        why = ", with dither, since HEVC is not available; --pix-fmt source keeps the format";
    else if (encoder_choose_format(&nearest, w->codec, &kept, first->format, &none) >= 0 &&
             nearest != encoder_context(w->encoder)->pix_fmt)
        why = ", which more players can show; --pix-fmt source keeps the format";
    media_note(w->options->tracks.note, "frames are %s for %s%s", adaptation, w->codec->name, why);
}

static int start(Writer *w, const AVFrame *first, MediaError *error)
{
    const int global_header = (w->muxer->flags & AVFMT_GLOBALHEADER) != 0;
    encoder_choose_default(&w->codec, &w->encoding, w->muxer, first->format, first->width,
                           first->height);
    int ret =
        encoder_open(&w->encoder, w->codec, &w->encoding, first, &w->track, global_header, error);
    if (ret < 0)
        return ret;
    note_adaptation(w, first);
    if (encoder_notes(w->encoder)->loses_alpha)
        media_note(w->options->tracks.note,
                   "transparency is left out: the encoder %s or its container does not store it; "
                   "--vcodec ffv1 (mkv), libvpx-vp9 (webm, mkv), png or apng keeps it",
                   w->codec->name);
    if (w->encoding.too_large)
        media_note(
            w->options->tracks.note,
            "most devices cannot decode H.264 of %dx%d, and this FFmpeg cannot write HEVC to %s",
            first->width, first->height, w->muxer->name);
    const AVCodecContext *c = encoder_context(w->encoder);
    if (c->codec_id == AV_CODEC_ID_HEVC && c->field_order > AV_FIELD_PROGRESSIVE)
        media_note(w->options->tracks.note,
                   "%s does not mark fields, so players may show combing in interlaced video; "
                   "--deinterlace on makes whole frames, and --vcodec libx264 keeps the fields",
                   w->codec->name);
    if (codec_frame_rates(w->codec))
        media_note(w->options->tracks.note,
                   "%s supports only fixed frame rates: frames are timed at %.3f per second",
                   w->codec->name, av_q2d(encoder_context(w->encoder)->framerate));
    if (side_data_keep(w->video, c) < 0 || side_data_from_frame(w->video, first) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    if (c->codec_id == AV_CODEC_ID_HEVC && container_is_mp4(w->muxer))
        w->video->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1'); /* Apple plays no hev1 */
    w->video->time_base = c->time_base;
    choose_grid(w);
    w->video->avg_frame_rate = c->framerate;
    w->video->sample_aspect_ratio = c->sample_aspect_ratio;
    if (w->options->sequence)
        return tracks_start(w->tracks, mux, w, error);
    const bool is_part = w->options->take_encoded && !w->options->count_only;
    return is_part ? 0 : write_header(w, error);
}

static const char *output_name(const Writer *w)
{
    return writer_is_picture(w) ? avcodec_get_name(w->codec->id) : w->muxer->name;
}

static int open_turner(Writer *w, const AVFrame *first, PictureTurn turn, MediaError *error)
{
    w->turned = av_frame_alloc();
    const int ret =
        w->turned ? turner_open(&w->turner, first, turn, w->encoding.threads) : AVERROR(ENOMEM);
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot rotate the frames: %s", media_av_text(ret));
    if (!turn.xx) /* a quarter turn destroys fields */
        w->track.field_order = AV_FIELD_PROGRESSIVE;
    const enum AVPixelFormat from = first->format, to = turner_format(from, turn);
    if (to == from)
        media_note(w->options->tracks.note, "frames are turned upright for %s", output_name(w));
    else
        media_note(w->options->tracks.note,
                   "frames are turned upright and converted from %s to %s for %s",
                   av_get_pix_fmt_name(from), av_get_pix_fmt_name(to), output_name(w));
    return 0;
}

/* If the container cannot store the rotation, opens a turner for multiples of 90 degrees, and drops
 * other angles with a note. */
static int choose_turn(Writer *w, const AVFrame *first, MediaError *error)
{
    int32_t matrix[9];
    w->turn = picture_upright();
    if (!side_data_frame_matrix(first, matrix))
        return 0;
    w->turn = picture_turn(matrix);
    const int whole = picture_turn_is_whole(matrix);
    if ((whole && w->turn.xx > 0 && w->turn.yy > 0) || container_keeps_matrix(w->muxer))
        return 0;
    if (whole)
        return open_turner(w, first, w->turn, error);
    media_note(w->options->tracks.note,
               "a rotation by %.4g degrees is left out: %s cannot store it",
               fabs(av_display_rotation_get(matrix)), output_name(w));
    return 0;
}

bool writer_is_picture(const Writer *w)
{
    return container_is_picture(w->muxer) && !w->options->sequence;
}

bool writer_is_full_range(const Writer *w)
{
    return w->codec && encoder_is_full_range(w->codec);
}

int writer_depth(const Writer *w, enum AVPixelFormat from)
{
    MediaError none = {0}; /* errors are reported when the encoder is opened */
    const AVCodec *codec = w->codec;
    EncoderOptions video = w->encoding;
    enum AVPixelFormat to;
    if (!codec || from == AV_PIX_FMT_NONE)
        return 0;
    encoder_choose_default(&codec, &video, w->muxer, from, 0, 0);
    return encoder_choose_format(&to, codec, &video, from, &none) >= 0 ? convert_depth(to) : 0;
}

bool writer_is_precise(const Writer *w, enum AVPixelFormat from)
{
    return w->codec && (encoder_is_lossless(w->codec, &w->encoding) || writer_depth(w, from) > 8);
}

bool writer_takes_gpu_frames(const Writer *w)
{
    return w->codec && !w->track.constant_rate && !w->encoding.pixel_format &&
           encoder_takes_gpu_frames(w->codec);
}

const char *writer_encoder(const Writer *w)
{
    return w->codec ? w->codec->name : NULL;
}

static int prepare(Writer *w, const AVFrame **frame, MediaError *error)
{
    int ret = w->encoder ? 0 : choose_turn(w, *frame, error);
    int32_t matrix[9];
    const PictureTurn a = w->turn, b = side_data_frame_matrix(*frame, matrix) ? picture_turn(matrix)
                                                                              : picture_upright();
    if (w->encoder && !w->turn_noted &&
        (a.xx != b.xx || a.xy != b.xy || a.yx != b.yx || a.yy != b.yy)) {
        w->turn_noted = 1;
        media_note(w->options->tracks.note,
                   "from %.3f s on, the video is rotated differently; the first rotation is kept",
                   (double)(*frame)->pts * av_q2d((*frame)->time_base));
    }
    if (ret >= 0 && w->turner) {
        ret = turner_run(w->turner, *frame, w->turned);
        if (ret < 0)
            return media_fail(error, MEDIA_OUTPUT, "cannot rotate a frame: %s", media_av_text(ret));
        *frame = w->turned;
    }
    return ret >= 0 && !w->encoder ? start(w, *frame, error) : ret;
}

int writer_open_encoder(Writer *w, const AVFrame *first, MediaError *error)
{
    return prepare(w, &first, error);
}

int writer_end_frames(Writer *w, MediaError *error)
{
    if (!w->encoder || !w->sent)
        return 0;
    const int ret = encoder_send(w->encoder, NULL, error);
    return ret < 0 ? ret : write_encoded(w, error);
}

static int begin_segment(Writer *w, int64_t pts, AVRational base, MediaError *error)
{
    if (!w->segments || !segments_is_due(w->segments, pts, base))
        return 0;
    if (w->encoder)
        encoder_ask_key(w->encoder);
    return segments_cut(w->segments, pts, base, error);
}

/* Gives one note about each kind of loss. `time`: of the current frame, in seconds. */
static void note_losses(Writer *w, double time)
{
    const EncoderNotes *notes = encoder_notes(w->encoder);
    void (*const note)(const char *) = w->options->tracks.note;
    if (notes->fields && !w->fields_noted++)
        media_note(note, "from %.3f s on, %s %s", time, w->codec->name, notes->fields);
    if (notes->dropped && !w->dynamic_noted++)
        media_note(note, "%s is left out: it describes the brightness of the original picture",
                   notes->dropped);
    if (notes->loses_user_data && !w->user_data_noted++)
        media_note(note, "user data of the frames (SEI) is left out: %s does not store it",
                   w->codec->name);
    if (notes->loses_captions && !w->captions_noted++)
        media_note(note, "closed captions are left out: %s does not store them", w->codec->name);
}

int writer_frame(Writer *w, const AVFrame *frame, MediaError *error)
{
    if (w->encoder && writer_is_picture(w)) {
        media_note(w->options->tracks.note,
                   "the output is a single picture: it holds only the first frame%s",
                   picture_pattern_is(w->options->path)
                       ? "; --sequence writes a picture of each frame"
                       : "");
        return AVERROR_EOF;
    }
    int64_t pts = frame->pts;
    AVRational base = frame->time_base;
    int ret = 0;
    if (w->track.constant_rate) { /* the muxer fills gaps with empty packets */
        /* Frames have indices instead of times. The first frame's index is its time in frames,
         * rounded up from a fraction of 5/8 on. */
        const AVRational to = w->track.time_base, quarter = av_mul_q(to, (AVRational){1, 4});
        if (!w->sent) {
            w->first_pts = pts;
            w->first_index = (av_rescale_q(pts, base, quarter) + 1) >> 2;
        }
        pts = w->first_index + av_rescale_q(pts - w->first_pts, base, to);
        base = to;
        if (w->sent && pts <= w->last_index) {
            w->dropped++;
            return 0;
        }
        w->last_index = pts;
    }
    if (w->encoder)
        ret = begin_segment(w, pts, base, error);
    if (!w->encoder) {
        w->start_pts = pts;
        w->start_base = base;
    }
    if (ret >= 0)
        ret = prepare(w, &frame, error);
    w->sent = 1;
    AVFrame *own = w->track.constant_rate && ret >= 0 ? av_frame_clone(frame) : NULL;
    if (own) {
        own->pts = pts;
        own->time_base = base;
        FRAME_DURATION(own) = 1;
    } else if (w->track.constant_rate && ret >= 0) {
        ret = media_no_memory(error, MEDIA_OUTPUT);
    }
    if (ret >= 0)
        ret = encoder_send(w->encoder, own ? own : frame, error);
    av_frame_free(&own);
    if (ret >= 0)
        note_losses(w, (double)frame->pts * av_q2d(frame->time_base));
    return ret < 0 ? ret : write_encoded(w, error);
}

int writer_video_packet(Writer *w, AVPacket *packet, MediaError *error)
{
    int ret = 0;
    if (!w->header_written) {
        w->start_pts = packet->pts;
        w->start_base = w->copy_base;
        ret = write_header(w, error);
    } else if (packet->flags & AV_PKT_FLAG_KEY)
        ret = begin_segment(w, packet->pts, w->copy_base, error);
    if (ret < 0)
        return ret;
    av_packet_rescale_ts(packet, w->copy_base, w->video->time_base);
    return mux(w, packet, w->video, error);
}

int writer_packet(Writer *w, AVPacket *packet, MediaError *error)
{
    if (!tracks_wants(w->tracks, packet->stream_index))
        return 0;
    return w->header_written ? tracks_packet(w->tracks, packet, error) : hold(w, packet, error);
}

bool writer_takes_sound(const Writer *w)
{
    return w->muxer->audio_codec != AV_CODEC_ID_NONE && !container_is_picture(w->muxer);
}

int writer_live_sound(Writer *w, AVPacket *packet, MediaError *error)
{
    packet->stream_index = tracks_live(w->tracks);
    return writer_packet(w, packet, error);
}

static void set_trailer_options(const Writer *w, int partial)
{
    /* The muxers of GIF and APNG ignore the last duration, but have an option for it. */
    const AVRational base = w->video->time_base;
    AVRational delay;
    av_reduce(&delay.num, &delay.den, w->last_duration * base.num, base.den, UINT16_MAX);
    if (strcmp(w->muxer->name, "gif") == 0)
        (void)av_opt_set_int(w->format->priv_data, "final_delay",
                             FFMIN(w->last_duration, UINT16_MAX), 0);
    if (strcmp(w->muxer->name, "apng") == 0)
        (void)av_opt_set_q(w->format->priv_data, "final_delay", delay, 0);
    /* Moving the index would delay the end of an interrupted run. */
    if (partial && container_is_mp4(w->muxer))
        (void)av_opt_set(w->format->priv_data, "movflags", "-faststart", 0);
}

/* True if a partial file is worth keeping; if not, adds the reason to the error. */
static bool check_partial(const Writer *w, MediaError *error)
{
    struct stat file;
    if (writer_is_direct(w))
        return true;
    if (fstat(w->file.temp.fd, &file) == 0 && file.st_size == 0)
        media_add(error, "; nothing of it could be written");
    else if (container_is_mp4(w->muxer)) /* it lacks its index */
        media_add(error, "; the part written so far cannot be played and is deleted");
    else
        return true;
    return false;
}

int writer_finish(Writer *w, int partial, MediaError *error)
{
    if (w->options->sequence)
        return writer_end_frames(w, error); /* the pictures have their names already */
    if (!w->header_written)
        return 0;
    int ret = writer_end_frames(w, error);
    if (ret >= 0)
        ret = tracks_finish(w->tracks, error);
    if (w->segments) {
        w->header_written = 0;
        return ret < 0 ? ret : segments_finish(w->segments, error);
    }
    if (ret >= 0 || partial) {
        set_trailer_options(w, partial);
        media_log_clear();
        while (output_file_refuses(av_interleaved_write_frame(w->format, NULL)))
            w->lost_packets++; /* later packets are still written */
        int wrote = av_write_trailer(w->format);
        if (wrote >= 0 && w->lost_packets && !w->video->nb_frames)
            wrote = AVERROR_INVALIDDATA; /* all video packets were refused */
        w->header_written = 0;
        w->format->pb = NULL;
        ret = wrote < 0 ? output_file_fail(&w->file, wrote, error) : 0;
    }
    if (ret >= 0)
        ret = output_file_flush(&w->file, error);
    if (ret < 0 && (!partial || !check_partial(w, error)))
        return ret;
    if (w->codec && w->codec->id == AV_CODEC_ID_WRAPPED_AVFRAME &&
        encoder_notes(w->encoder)->is_uneven)
        media_note(w->options->tracks.note,
                   "%s has no timestamps: unevenly spaced frames become evenly spaced",
                   w->muxer->name);
    if (w->dropped)
        media_note(w->options->tracks.note,
                   "%s has a constant frame rate: at %.3f frames per second, %lld frames were "
                   "dropped",
                   w->muxer->name, av_q2d(w->track.frame_rate), (long long)w->dropped);
    w->bytes = output_file_bytes(&w->file);
    if (w->options->count_only)
        return 0;
    const OutputName whole = w->options->any_name ? OUTPUT_FREE : OUTPUT_OWN_NAME;
    return output_file_commit(&w->file, partial ? OUTPUT_PARTIAL : whole, error);
}

int64_t writer_held(const Writer *w)
{
    return w->encoder ? encoder_held(w->encoder) : 0;
}

int64_t writer_bytes(const Writer *w)
{
    if (w->options->sequence)
        return w->pictures.count ? w->pictures.bytes : -1;
    if (w->segments)
        return segments_totals(w->segments).bytes;
    return w->file.io ? output_file_bytes(&w->file) : w->bytes;
}

TrackLosses writer_losses(const Writer *w)
{
    TrackLosses losses = w->tracks ? tracks_losses(w->tracks) : (TrackLosses){0};
    losses.packets += w->segments ? segments_totals(w->segments).refused : w->lost_packets;
    return losses;
}

bool writer_is_direct(const Writer *w)
{
    return !w->options->sequence && !w->file.room;
}

const char *writer_name(const Writer *w)
{
    if (w->options->sequence)
        return w->pictures.count ? w->pictures.pattern : NULL;
    return w->segments ? segments_totals(w->segments).name : w->file.name;
}

const char *writer_video(const Writer *w)
{
    return w->about;
}

SegmentTotals writer_segments(const Writer *w)
{
    return w->segments ? segments_totals(w->segments) : (SegmentTotals){0};
}

void writer_close(Writer **writer)
{
    Writer *w = *writer;
    if (!w)
        return;
    encoder_close(&w->encoder);
    segments_close(&w->segments);
    turner_close(&w->turner);
    av_frame_free(&w->turned);
    if (w->format)
        w->format->pb = NULL;
    avformat_free_context(w->format);
    output_file_close(&w->file);
    (void)release(w, -1, NULL);
    av_fifo_freep2(&w->held);
    tracks_close(&w->tracks);
    av_packet_free(&w->packet);
    av_freep(writer);
}
