#include "media/output/tracks.h"

#include <string.h>

#include <libavcodec/bsf.h>
#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>

#include "media/checksum.h"
#include "media/input/track_choice.h"
#include "media/log.h"
#include "media/output/container.h"
#include "media/output/encoder_choice.h"
#include "media/output/live_sound.h"
#include "media/output/tags.h"
#include "media/side_data.h"

/* Viewers notice sound that is early by more than this. */
#define NOTICED_US 40000

/* Mask of the profile, sample rate and channels in an ADTS header. */
#define ADTS_SHAPE 0xfdc0

/* Longest reordering delay of a video codec, in frames. */
#define MAX_DELAY 16

/* The output's view of an input stream. The thread that reads the input owns the stream itself. */
typedef struct Track {
    AVStream *out;       /* NULL: left out */
    AVRational in_base;  /* time base of the input's packets */
    AVRational own_base; /* time base of the converter's packets */
    AudioTranscoder *audio;
    TextTranscoder *text;
    char *sound_name;             /* track name of copied sound, or NULL */
    uint32_t header, extradata;   /* first ADTS header; checksum of the first extradata; 0: none */
    bool is_other;                /* the latest extradata differs from the first */
    int64_t missing;              /* length of sound left out after a change, in in_base */
    AVBSFContext *filter;         /* bitstream filter for copied packets, or NULL */
    AVPacket *picture;            /* cover picture, written first */
    int64_t last_dts;             /* in out's time base; AV_NOPTS_VALUE before the first packet */
    int64_t shown[MAX_DELAY + 1]; /* sorted pts to use as dts, see find_dts() */
    char *name;      /* track name of copied video if the part has a start, else NULL */
    int64_t key_pts; /* of the part's first key frame, in in_base; INT64_MAX before it arrives */
    bool was_cut;    /* packets before the key frame were dropped */
} Track;

struct Tracks {
    const TrackOptions *options;
    AVFormatContext *to;
    Track *tracks;         /* by index of the input stream; the last may be live sound */
    int count;             /* number of input streams */
    int all;               /* number of tracks, including live sound */
    AVFormatContext *live; /* describes the live sound, or NULL */
    int64_t live_delay;    /* added to the times of live sound, in samples */
    AVPacket *packet;
    TrackMuxer mux;
    void *opaque;
    int64_t start, end;        /* of the part, in input time; AV_NOPTS_VALUE: not given */
    int64_t dropped_subtitles; /* subtitles that ended before time 0 */
    int64_t lost;              /* packets that a bitstream filter rejected */
};

static bool acodec_is(const TrackOptions *o, const char *acodec)
{
    return o->acodec && strcmp(o->acodec, acodec) == 0;
}

static bool is_named(const TrackOptions *o)
{
    return o->acodec && !acodec_is(o, "copy") && !acodec_is(o, "none");
}

int tracks_check(const TrackOptions *o, const AVOutputFormat *muxer, MediaError *error)
{
    if (!is_named(o))
        return 0;
    const AVCodec *codec = avcodec_find_encoder_by_name(o->acodec);
    if (!codec || codec->type != AVMEDIA_TYPE_AUDIO) {
        return media_fail(error, MEDIA_USAGE,
                          "--acodec %s: this FFmpeg has no sound encoder of that name; use copy, "
                          "none, or one that --acodec help lists",
                          media_quote(o->acodec));
    }
    if (muxer->audio_codec == AV_CODEC_ID_NONE ||
        !container_takes(muxer, AVMEDIA_TYPE_AUDIO, codec->id))
        return media_fail(error, MEDIA_USAGE,
                          "--acodec %s: the container %s cannot hold this codec",
                          media_quote(o->acodec), muxer->name);
    return 0;
}

static void describe(const Source *source, const AVStream *in, char *text, size_t size)
{
    const char *type = av_get_media_type_string(in->codecpar->codec_type);
    const AVDictionaryEntry *name = av_dict_get(in->metadata, "filename", NULL, 0);
    const char *codec = codec_name(in->codecpar);
    if (source_is_picture(in))
        snprintf(text, size, "cover picture (%s)", codec);
    else if (in->codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        snprintf(text, size, "attachment (%s)", name ? media_quote(name->value) : codec);
    else
        snprintf(text, size, "%s track %d (%s)", type ? type : "unknown",
                 source_track_number(source, in), codec);
}

static void drop_track(const Tracks *t, const Source *source, AVStream *in, const char *reason,
                       const char *more)
{
    char track[256];
    in->discard = AVDISCARD_ALL;
    describe(source, in, track, sizeof(track));
    media_note(t->options->note, "%s is left out: %s%s", track, reason, more);
}

static bool is_wanted(const Tracks *t, const Source *source, const AVStream *in)
{
    const TrackOptions *o = t->options;
    const int number = source_track_number(source, in);
    if (source_is_foreign(source, in))
        return false;
    switch (in->codecpar->codec_type) {
    case AVMEDIA_TYPE_AUDIO:
        return !acodec_is(o, "none") && (!o->audio_track || o->audio_track == number + 1);
    case AVMEDIA_TYPE_SUBTITLE: return !o->no_subs && (!o->sub_track || o->sub_track == number + 1);
    case AVMEDIA_TYPE_DATA:
        /* Not wanted: chapter tracks, which libavformat discards after it has read them, and
         * timecode tracks that muxers recreate from the tag. */
        return in->discard != AVDISCARD_ALL &&
               !(in->codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd') &&
                 av_dict_get(source->video->metadata, "timecode", NULL, 0));
    default: return true;
    }
}

static int add_stream(Tracks *t, const AVStream *in, AVStream **out, MediaError *error)
{
    *out = avformat_new_stream(t->to, NULL);
    if (!*out || tags_copy(&(*out)->metadata, in->metadata, t->options->no_metadata) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    (*out)->disposition = in->disposition;
    (*out)->time_base = in->time_base;
    if (t->options->part_given)
        tags_drop_statistics(&(*out)->metadata);
    return 0;
}

static int add_video(Tracks *t, const AVStream *in, AVStream **out, MediaError *error)
{
    const int ret = add_stream(t, in, out, error);
    if (ret < 0)
        return ret;
    tags_drop_statistics(&(*out)->metadata);
    return side_data_copy_lasting(*out, in) < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
}

/* Opens the bitstream filter that a copied track needs if FFmpeg's muxer does not add it itself. */
static int open_filter(const Tracks *t, const AVStream *in, AVStream *out)
{
    AVBSFContext **filter = &t->tracks[in->index].filter;
    const AVCodecParameters *par = in->codecpar;
    const char *muxer = t->to->oformat->name, *name = NULL;
    const bool has_lengths = par->extradata_size > 0 && par->extradata[0] == 1;
    if (par->codec_id == AV_CODEC_ID_H264 && has_lengths &&
        av_match_name(muxer, "avi,mpeg,vob,dvd,svcd"))
        name = "h264_mp4toannexb";
    else if (par->codec_id == AV_CODEC_ID_MPEG4 && strcmp(muxer, "mpegts") == 0)
        name = "dump_extra";
    const AVBitStreamFilter *kind = name ? av_bsf_get_by_name(name) : NULL;
    int ret = kind ? av_bsf_alloc(kind, filter) : 0;
    if (!*filter)
        return ret;
    ret = avcodec_parameters_copy((*filter)->par_in, in->codecpar);
    (*filter)->time_base_in = in->time_base;
    if (ret >= 0)
        ret = av_bsf_init(*filter);
    return ret >= 0 ? avcodec_parameters_copy(out->codecpar, (*filter)->par_out) : ret;
}

static int delays_one_frame(const AVStream *stream)
{
    const enum AVCodecID id = stream->codecpar->codec_id;
    return id == AV_CODEC_ID_MPEG1VIDEO || id == AV_CODEC_ID_MPEG2VIDEO || id == AV_CODEC_ID_MPEG4;
}

static int add_copy(Tracks *t, const Source *source, const AVStream *in, MediaError *error)
{
    AVStream *out;
    char name[256];
    const int ret = add_stream(t, in, &out, error);
    if (ret < 0)
        return ret;
    if (avcodec_parameters_copy(out->codecpar, in->codecpar) < 0 || open_filter(t, in, out) < 0 ||
        side_data_copy_all(out, in) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    out->codecpar->codec_tag = container_tag(t->to->oformat, in->codecpar);
    out->avg_frame_rate = in->avg_frame_rate;
    out->r_frame_rate = in->r_frame_rate;
    out->sample_aspect_ratio = in->sample_aspect_ratio;
    t->tracks[in->index].out = out;
    t->tracks[in->index].key_pts = INT64_MAX;
    describe(source, in, name, sizeof(name));
    /* AVI and MPEG program streams omit the pts of reordered frames. libavformat can derive them if
     * the codec reorders by at most one frame. */
    if (in->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && delays_one_frame(in) &&
        delays_one_frame(source->video))
        source->format->flags |= AVFMT_FLAG_GENPTS;
    if (in->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && t->start != AV_NOPTS_VALUE)
        t->tracks[in->index].name = av_strdup(name);
    if (in->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
        t->tracks[in->index].sound_name = av_strdup(name);
        t->tracks[in->index].extradata =
            checksum(0, in->codecpar->extradata, (size_t)in->codecpar->extradata_size);
    }
    return 0;
}

/* Matroska stores covers as attachments. */
static int attach_picture(Tracks *t, const AVStream *in, MediaError *error)
{
    const int png = in->codecpar->codec_id == AV_CODEC_ID_PNG;
    const AVPacket *picture = &in->attached_pic;
    AVStream *out;
    const int ret = add_stream(t, in, &out, error);
    if (ret < 0)
        return ret;
    AVCodecParameters *par = out->codecpar;
    par->codec_type = AVMEDIA_TYPE_ATTACHMENT;
    par->codec_id = in->codecpar->codec_id;
    par->extradata = av_mallocz((size_t)picture->size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!par->extradata ||
        av_dict_set(&out->metadata, "filename", png ? "cover.png" : "cover.jpg",
                    AV_DICT_DONT_OVERWRITE) < 0 ||
        av_dict_set(&out->metadata, "mimetype", png ? "image/png" : "image/jpeg",
                    AV_DICT_DONT_OVERWRITE) < 0)
        return media_no_memory(error, MEDIA_OUTPUT);
    memcpy(par->extradata, picture->data, (size_t)picture->size);
    par->extradata_size = picture->size;
    return 0;
}

static int add_picture(Tracks *t, const Source *source, AVStream *in, MediaError *error)
{
    const enum AVCodecID id = in->codecpar->codec_id;
    const AVOutputFormat *muxer = t->to->oformat;
    Track *track = &t->tracks[in->index];
    in->discard = AVDISCARD_ALL; /* its packet is in attached_pic */
    if (!in->attached_pic.size || (in->disposition & AV_DISPOSITION_TIMED_THUMBNAILS)) {
        drop_track(t, source, in, "it is a preview of a chapter", "");
        return 0;
    }
    const int known = id == AV_CODEC_ID_PNG || id == AV_CODEC_ID_MJPEG;
    if (known && av_match_name(muxer->name, "matroska"))
        return attach_picture(t, in, error);
    if (!(known || id == AV_CODEC_ID_BMP) || !av_match_name(muxer->name, "mp4,ipod")) {
        drop_track(t, source, in, "the container cannot hold such a cover", "");
        return 0;
    }
    if (in->codecpar->width <= 0 || in->codecpar->height <= 0 ||
        !container_passes_trial(muxer, in)) {
        drop_track(t, source, in, "the container does not support it", "");
        return 0;
    }
    const int ret = add_copy(t, source, in, error);
    if (ret < 0)
        return ret;
    track->out->disposition = AV_DISPOSITION_ATTACHED_PIC; /* muxers expect no other flag */
    track->picture = av_packet_clone(&in->attached_pic);
    return track->picture ? 0 : media_no_memory(error, MEDIA_OUTPUT);
}

static int64_t track_begin(const Tracks *t, const Source *source, const AVStream *in)
{
    const int64_t begin = source_track_start(source, in);
    if (begin == AV_NOPTS_VALUE || t->start == AV_NOPTS_VALUE)
        return begin;
    return FFMAX(begin, t->start);
}

/* True if the track begins too late to be copied into a container that does not store start
 * times. */
static bool is_late(const Tracks *t, const Source *source, const AVStream *in)
{
    const int64_t begin = track_begin(t, source, in);
    if (begin == AV_NOPTS_VALUE || container_keeps_start(t->to->oformat))
        return false;
    for (int i = 0; i < t->count; i++) {
        const AVStream *other = source->format->streams[i];
        const int counts =
            other == source->video ||
            (other->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && is_wanted(t, source, other));
        const int64_t first = track_begin(t, source, other);
        if (counts && first != AV_NOPTS_VALUE && begin - first > NOTICED_US)
            return true;
    }
    return false;
}

/* The encoder to convert a track, or NULL to copy or drop it. `refusal`: why the track cannot be
 * copied, or NULL. */
static const AVCodec *audio_encoder(const Tracks *t, const AVStream *in, const char *refusal,
                                    int late)
{
    const AVOutputFormat *muxer = t->to->oformat;
    const AVCodec *same = late ? avcodec_find_encoder(in->codecpar->codec_id) : NULL;
    if (is_named(t->options))
        return avcodec_find_encoder_by_name(t->options->acodec);
    if ((!refusal && !late) || container_is_picture(muxer))
        return NULL;
    if (same && !(same->capabilities & AV_CODEC_CAP_EXPERIMENTAL))
        return same;
    /* LPCM of discs becomes PCM with the same samples, in a byte order that containers know. */
    const AVCodecParameters *par = in->codecpar;
    const bool is_deep = par->format != AV_SAMPLE_FMT_S16 || par->bits_per_coded_sample > 16;
    const enum AVCodecID pcm = is_deep ? AV_CODEC_ID_PCM_S24LE : AV_CODEC_ID_PCM_S16LE;
    const bool is_disc =
        par->codec_id == AV_CODEC_ID_PCM_DVD || par->codec_id == AV_CODEC_ID_PCM_BLURAY;
    return avcodec_find_encoder(
        is_disc && container_takes(muxer, AVMEDIA_TYPE_AUDIO, pcm) ? pcm : muxer->audio_codec);
}

static const AVCodec *text_encoder(const Tracks *t, const AVStream *in)
{
    static const enum AVCodecID known[] = {AV_CODEC_ID_SUBRIP, AV_CODEC_ID_MOV_TEXT,
                                           AV_CODEC_ID_WEBVTT, AV_CODEC_ID_ASS};
    const AVCodecDescriptor *from = avcodec_descriptor_get(in->codecpar->codec_id);
    if (!from || !(from->props & AV_CODEC_PROP_TEXT_SUB))
        return NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (container_takes(t->to->oformat, AVMEDIA_TYPE_SUBTITLE, known[i]) &&
            avcodec_find_encoder(known[i]))
            return avcodec_find_encoder(known[i]);
    return NULL;
}

/* Opens the converter on a scratch stream first, because a stream cannot be removed from the
 * output. If the converter does not open and `copy` is not 0, copies the track instead. */
static int add_converted(Tracks *t, const Source *source, AVStream *in, const AVCodec *encoder,
                         const char *reason, int copy, MediaError *error)
{
    Track *track = &t->tracks[in->index];
    AVFormatContext *scratch = avformat_alloc_context();
    AVStream *like = scratch ? avformat_new_stream(scratch, NULL) : NULL, *out;
    media_log_clear();
    int ret = AVERROR(ENOMEM);
    if (like && encoder->type == AVMEDIA_TYPE_AUDIO)
        ret = audio_transcoder_open(&track->audio, in, like, encoder, t->to->oformat);
    else if (like)
        ret = text_transcoder_open(&track->text, in, like, encoder);
    if (ret < 0) {
        char more[160];
        avformat_free_context(scratch);
        if (copy)
            return add_copy(t, source, in, error);
        if (ret == AVERROR(EINVAL) && in->codecpar->ch_layout.order != AV_CHANNEL_ORDER_NATIVE)
            snprintf(more, sizeof(more), "%s%s cannot hold its %d channels, which have no layout",
                     reason ? ", and " : "", encoder->name, in->codecpar->ch_layout.nb_channels);
        else
            snprintf(more, sizeof(more), "%sit cannot be converted to %s (%s)",
                     reason ? ", and " : "", encoder->name, media_av_text(ret));
        drop_track(t, source, in, reason ? reason : "", more);
        return 0;
    }
    ret = add_stream(t, in, &out, error);
    if (ret >= 0 && (avcodec_parameters_copy(out->codecpar, like->codecpar) < 0 ||
                     side_data_copy_lasting(out, in) < 0))
        ret = media_no_memory(error, MEDIA_OUTPUT);
    if (ret >= 0) {
        tags_drop_statistics(&out->metadata);
        out->time_base = track->own_base = like->time_base;
        track->out = out;
        char track_name[256];
        describe(source, in, track_name, sizeof(track_name));
        if (reason && encoder->id == in->codecpar->codec_id)
            media_note(t->options->note, "%s is re-encoded: %s", track_name, reason);
        else if (reason)
            media_note(t->options->note, "%s is converted to %s: %s", track_name,
                       avcodec_get_name(encoder->id), reason);
        if (out->codecpar->ch_layout.nb_channels < in->codecpar->ch_layout.nb_channels)
            media_note(t->options->note, "%s is mixed from %d channels to %d for %s", track_name,
                       in->codecpar->ch_layout.nb_channels, out->codecpar->ch_layout.nb_channels,
                       encoder->name);
    }
    avformat_free_context(scratch);
    return ret;
}

static int add_track(Tracks *t, const Source *source, AVStream *in, MediaError *error)
{
    const enum AVMediaType type = in->codecpar->codec_type;
    if (!is_wanted(t, source, in)) {
        in->discard = AVDISCARD_ALL;
        return 0;
    }
    if (source_is_picture(in))
        return add_picture(t, source, in, error);
    const char *refusal = container_refusal(t->to->oformat, in);
    const int late =
        type == AVMEDIA_TYPE_AUDIO && !refusal && !t->options->acodec && is_late(t, source, in);
    const char *reason = late ? "the container does not store when tracks begin" : refusal;
    const AVCodec *encoder = NULL;
    if (type == AVMEDIA_TYPE_AUDIO)
        encoder = audio_encoder(t, in, refusal, late);
    else if (type == AVMEDIA_TYPE_SUBTITLE && refusal)
        encoder = text_encoder(t, in);
    if (encoder)
        return add_converted(t, source, in, encoder, reason, late, error);
    if (!refusal)
        return add_copy(t, source, in, error);
    drop_track(t, source, in, refusal, "");
    return 0;
}

/* Prefers AAC, which phones can play, except in containers that usually hold another codec. */
static const AVCodec *live_encoder(const Tracks *t)
{
    const AVOutputFormat *muxer = t->to->oformat;
    enum AVCodecID ids[] = {AV_CODEC_ID_AAC, muxer->audio_codec};
    if (av_match_name(muxer->name, "matroska,webm,ogg,ogv"))
        ids[0] = AV_CODEC_ID_OPUS;
    else if (strcmp(muxer->name, "avi") == 0)
        ids[0] = AV_CODEC_ID_MP3;
    if (is_named(t->options))
        return avcodec_find_encoder_by_name(t->options->acodec);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const AVCodec *codec = avcodec_find_encoder(ids[i]);
        if (codec && !(codec->capabilities & AV_CODEC_CAP_EXPERIMENTAL) &&
            container_takes(muxer, AVMEDIA_TYPE_AUDIO, ids[i]))
            return codec;
    }
    return NULL;
}

static int add_live_sound(Tracks *t, MediaError *error)
{
    Track *track = &t->tracks[t->count];
    const AVCodec *encoder = live_encoder(t);
    t->live = avformat_alloc_context();
    AVStream *in = t->live ? avformat_new_stream(t->live, NULL) : NULL;
    track->out = avformat_new_stream(t->to, NULL);
    if (!in || !track->out)
        return media_no_memory(error, MEDIA_OUTPUT);
    in->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
    in->codecpar->codec_id = LIVE_SOUND_CODEC;
    in->codecpar->format = AV_SAMPLE_FMT_FLT;
    in->codecpar->sample_rate = LIVE_SOUND_RATE;
    in->time_base = (AVRational){1, LIVE_SOUND_RATE};
    av_channel_layout_default(&in->codecpar->ch_layout, t->options->live_channels);
    track->in_base = in->time_base;
    track->last_dts = AV_NOPTS_VALUE;
    track->out->disposition = AV_DISPOSITION_DEFAULT;
    const int ret =
        encoder ? audio_transcoder_open(&track->audio, in, track->out, encoder, t->to->oformat)
                : AVERROR_ENCODER_NOT_FOUND;
    track->own_base = track->out->time_base;
    /* Matroska readers subtract the encoder's padding from all times. Times below 0 would delay the
     * video, so the padding is added here. */
    const AVCodecParameters *par = track->out->codecpar;
    if (ret >= 0 && av_match_name(t->to->oformat->name, "matroska,webm"))
        t->live_delay = av_rescale(par->initial_padding, LIVE_SOUND_RATE, par->sample_rate);
    return ret >= 0 ? 0
                    : media_fail(error, MEDIA_USAGE,
                                 "microphone sound cannot be encoded for %s (%s); "
                                 "--microphone off records without it",
                                 t->to->oformat->name, media_av_text(ret));
}

static int check_choice(const Source *source, enum AVMediaType type, int wanted, const char *option,
                        MediaError *error)
{
    const int count = track_count(source, type);
    if (!wanted || wanted <= count)
        return 0;
    return media_fail(error, MEDIA_USAGE, "%s %d: the input has %d such tracks, numbered from 0",
                      option, wanted - 1, count);
}

static int copy_chapters(Tracks *t, const Source *source, MediaError *error)
{
    const TrackOptions *o = t->options;
    const AVOutputFormat *muxer = t->to->oformat;
    if (o->no_chapters || !source->format->nb_chapters)
        return 0;
    if (av_match_name(muxer->name, CHAPTER_MUXERS)) {
        const int ret = chapters_copy(t->to, source->format, t->start, t->end, !o->no_metadata);
        return ret < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
    }
    if (muxer->audio_codec != AV_CODEC_ID_NONE)
        media_note(t->options->note, "the chapters are left out: the container %s cannot hold any",
                   muxer->name);
    return 0;
}

/* A frame count gives only the approximate end of the part. */
static void find_part(Tracks *t, const Source *source)
{
    const TrackOptions *o = t->options;
    const AVRational rate = source->video->avg_frame_rate;
    t->start = t->end = AV_NOPTS_VALUE;
    if (!o->part_given)
        return;
    if (o->from_us >= 0)
        t->start = source_start(source) + o->from_us;
    if (o->to_us >= 0)
        t->end = source_start(source) + o->to_us;
    if (o->frames >= 0 && rate.num > 0 && rate.den > 0) {
        const int64_t start = t->start != AV_NOPTS_VALUE ? t->start : source_start(source);
        const int64_t end = start + av_rescale_q(o->frames, av_inv_q(rate), AV_TIME_BASE_Q);
        if (t->end == AV_NOPTS_VALUE || end < t->end)
            t->end = end;
    }
}

static int map_all(Tracks *t, const Source *source, AVStream **video, MediaError *error)
{
    const TrackOptions *o = t->options;
    int ret = check_choice(source, AVMEDIA_TYPE_AUDIO, o->audio_track, "--audio-track", error);
    if (ret >= 0)
        ret = check_choice(source, AVMEDIA_TYPE_SUBTITLE, o->sub_track, "--sub-track", error);
    if (ret >= 0 && !o->no_metadata && tags_copy(&t->to->metadata, source->format->metadata, 0) < 0)
        ret = media_no_memory(error, MEDIA_OUTPUT);
    const int video_first = container_wants_video_first(t->to->oformat);
    if (ret >= 0 && video_first)
        ret = add_video(t, source->video, video, error);
    for (int i = 0; i < t->count && ret >= 0; i++) {
        AVStream *in = source->format->streams[i];
        t->tracks[i].in_base = in->time_base;
        t->tracks[i].last_dts = AV_NOPTS_VALUE;
        if (in != source->video)
            ret = add_track(t, source, in, error);
        else if (!video_first)
            ret = add_video(t, in, video, error);
    }
    if (ret >= 0 && o->live_channels)
        ret = add_live_sound(t, error);
    if (ret >= 0)
        ret = copy_chapters(t, source, error);
    return ret;
}

int tracks_map(Tracks **tracks, const TrackOptions *options, AVFormatContext *to,
               const Source *source, AVStream **video, MediaError *error)
{
    *tracks = NULL;
    Tracks *t = av_mallocz(sizeof(*t));
    if (!t)
        return media_no_memory(error, MEDIA_OUTPUT);
    t->options = options;
    t->to = to;
    t->count = (int)source->format->nb_streams;
    t->all = t->count + (options->live_channels != 0);
    t->tracks = av_calloc((size_t)t->all, sizeof(*t->tracks));
    t->packet = av_packet_alloc();
    find_part(t, source);
    const int ret = t->tracks && t->packet ? map_all(t, source, video, error)
                                           : media_no_memory(error, MEDIA_OUTPUT);
    if (ret < 0)
        tracks_close(&t);
    *tracks = t;
    return ret;
}

int tracks_start(Tracks *t, TrackMuxer mux, void *opaque, MediaError *error)
{
    t->mux = mux;
    t->opaque = opaque;
    for (int i = 0; i < t->all; i++) {
        Track *track = &t->tracks[i];
        if (!track->picture)
            continue;
        track->picture->pts = track->picture->dts = 0;
        const int ret = mux(opaque, track->picture, track->out, error);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int tracks_live(const Tracks *t)
{
    return t->live ? t->count : -1;
}

bool tracks_wants(const Tracks *t, int stream)
{
    return t->tracks[stream].out && !t->tracks[stream].picture;
}

/* Returns the packet's dts. A missing dts is derived from the pts of earlier packets and the
 * codec's reordering delay. */
static int64_t find_dts(Track *track, const AVPacket *packet)
{
    const int delay = av_clip(track->out->codecpar->video_delay, 0, MAX_DELAY);
    int64_t *shown = track->shown;
    if (packet->pts == AV_NOPTS_VALUE)
        return packet->dts;
    for (int i = 1; track->last_dts == AV_NOPTS_VALUE && i <= delay; i++)
        shown[i] = packet->pts + (i - delay - 1) * packet->duration;
    shown[0] = packet->pts;
    for (int i = 0; i < delay && shown[i] > shown[i + 1]; i++)
        FFSWAP(int64_t, shown[i], shown[i + 1]);
    return packet->dts != AV_NOPTS_VALUE ? packet->dts : shown[0];
}

/* Finds the part's first key frame. Returns true if the packet must be dropped because it arrives
 * before the key frame or is shown before it. */
static bool find_first_key(const Tracks *t, Track *track, const AVPacket *packet)
{
    if (track->key_pts == INT64_MAX && (packet->flags & AV_PKT_FLAG_KEY)) {
        track->key_pts = packet->pts;
        if (track->was_cut && packet->pts != AV_NOPTS_VALUE)
            media_note(t->options->note, "%s begins with its first key frame, at %.2f s",
                       track->name, (double)packet->pts * av_q2d(track->in_base));
    }
    const bool is_before = track->key_pts == INT64_MAX ||
                           (packet->pts != AV_NOPTS_VALUE && packet->pts < track->key_pts);
    track->was_cut |= is_before;
    return is_before;
}

static int write_packet(Tracks *t, Track *track, AVPacket *packet, AVRational base,
                        MediaError *error)
{
    bool drops = track->name && find_first_key(t, track, packet);
    if (!drops && track->filter) { /* filters reject damaged packets */
        drops = av_bsf_send_packet(track->filter, packet) < 0 ||
                av_bsf_receive_packet(track->filter, packet) < 0;
        t->lost += drops;
    }
    if (drops) {
        av_packet_unref(packet);
        return 0;
    }
    av_packet_rescale_ts(packet, base, track->out->time_base);
    packet->dts = find_dts(track, packet);
    /* Muxers reject packets whose dts is missing or does not increase, as in damaged files. */
    if (track->last_dts != AV_NOPTS_VALUE &&
        (packet->dts == AV_NOPTS_VALUE || packet->dts <= track->last_dts))
        packet->dts = track->last_dts + 1;
    if (packet->dts == AV_NOPTS_VALUE)
        packet->dts = 0;
    if (packet->pts == AV_NOPTS_VALUE || packet->pts < packet->dts)
        packet->pts = packet->dts;
    track->last_dts = packet->dts;
    return t->mux(t->opaque, packet, track->out, error);
}

typedef struct Taker {
    Tracks *tracks;
    Track *track;
    MediaError *error;
} Taker;

static int take_sound(void *opaque, AVPacket *packet)
{
    const Taker *taker = opaque;
    return write_packet(taker->tracks, taker->track, packet, taker->track->own_base, taker->error);
}

/* A NULL `packet` marks the end. */
static int convert(Tracks *t, Track *track, const AVPacket *packet, MediaError *error)
{
    Taker taker = {t, track, error};
    int ret = 0;
    if (track->audio)
        ret = audio_transcoder_run(track->audio, packet, take_sound, &taker);
    else if (packet)
        ret = text_transcoder_run(track->text, packet, t->packet);
    if (ret < 0) {
        media_fail(error, MEDIA_OUTPUT, "cannot convert a track: %s", media_av_text(ret));
        return error->fault;
    }
    return ret > 0 && track->text ? write_packet(t, track, t->packet, track->own_base, error) : 0;
}

static uint32_t adts_header(const AVPacket *packet)
{
    const uint32_t header = packet->size >= 4 ? AV_RB32(packet->data) : 0;
    return (header & 0xfff60000) == 0xfff00000 ? header : 0;
}

/* Returns 1 if a packet of copied sound has the track's first format. Most containers store only
 * one format per track, so packets in another format are dropped. */
static int check_sound(Tracks *t, Track *track, AVPacket *packet)
{
    const bool is_aac = track->out->codecpar->codec_id == AV_CODEC_ID_AAC &&
                        !av_match_name(t->to->oformat->name, "mpegts,nut,avi");
    const uint32_t header = is_aac ? adts_header(packet) : 0;
    track->header = track->header ? track->header : header;
    size_t size;
    const uint8_t *extra = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (extra) {
        const uint32_t sum = checksum(0, extra, size);
        track->extradata = track->extradata ? track->extradata : sum;
        track->is_other = sum != track->extradata;
        av_packet_free_side_data(packet); /* muxers would write it into the header again */
    }
    if (!track->is_other && !(header && ((header ^ track->header) & ADTS_SHAPE)))
        return 1;
    const AVCodec *encoder = avcodec_find_encoder(t->to->oformat->audio_codec);
    if (!track->missing)
        media_note(t->options->note,
                   "%s changes its format at %.2f s: sound in another format is left out%s%s",
                   track->sound_name, (double)packet->pts * av_q2d(track->in_base),
                   encoder ? "; try --acodec " : "", encoder ? encoder->name : "");
    track->missing += FFMAX(packet->duration, 1);
    return 0;
}

/* Cuts off the part of a subtitle or data packet before time 0. Otherwise, muxers would delay the
 * whole output. Returns 0 if nothing is left. */
static int cut_before_zero(AVPacket *packet)
{
    const int64_t start = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (start == AV_NOPTS_VALUE || start >= 0)
        return 1;
    if (packet->duration > 0 && packet->duration <= -start)
        return 0;
    if (packet->duration > 0)
        packet->duration += start;
    packet->pts = packet->dts = 0;
    return 1;
}

int tracks_packet(Tracks *t, AVPacket *packet, MediaError *error)
{
    Track *track = &t->tracks[packet->stream_index];
    const enum AVMediaType type = track->out->codecpar->codec_type;
    if (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO && !cut_before_zero(packet)) {
        t->dropped_subtitles += type == AVMEDIA_TYPE_SUBTITLE;
        av_packet_unref(packet);
        return 0;
    }
    if (!track->audio && !track->text) {
        if (!track->sound_name || check_sound(t, track, packet))
            return write_packet(t, track, packet, track->in_base, error);
        av_packet_unref(packet);
        return 0;
    }
    if (packet->stream_index == tracks_live(t))
        packet->pts += t->live_delay;
    const int ret = convert(t, track, packet, error);
    av_packet_unref(packet);
    return ret;
}

int tracks_finish(Tracks *t, MediaError *error)
{
    int ret = 0;
    for (int i = 0; i < t->all && ret >= 0; i++) {
        if (t->tracks[i].audio)
            ret = convert(t, &t->tracks[i], NULL, error);
        if (t->tracks[i].was_cut && t->tracks[i].key_pts == INT64_MAX)
            media_note(t->options->note, "%s is left out: it has no key frame in the part",
                       t->tracks[i].name);
    }
    if (t->dropped_subtitles)
        media_note(t->options->note,
                   "%lld subtitle%s left out: %s before the first picture or sound",
                   (long long)t->dropped_subtitles, t->dropped_subtitles == 1 ? " is" : "s are",
                   t->dropped_subtitles == 1 ? "it ends" : "they end");
    return ret;
}

TrackLosses tracks_losses(const Tracks *t)
{
    TrackLosses all = {.packets = t->lost};
    for (int i = 0; i < t->all; i++) {
        const Track *track = &t->tracks[i];
        SoundLoss loss = {0};
        if (track->audio)
            loss = audio_transcoder_loss(track->audio);
        if (track->missing)
            all.missing += av_rescale_q(track->missing, track->in_base, AV_TIME_BASE_Q);
        all.sound.silence += loss.silence;
        all.sound.errors += loss.errors;
    }
    return all;
}

void tracks_close(Tracks **tracks)
{
    Tracks *t = *tracks;
    if (!t)
        return;
    for (int i = 0; t->tracks && i < t->all; i++) {
        audio_transcoder_close(&t->tracks[i].audio);
        text_transcoder_close(&t->tracks[i].text);
        av_packet_free(&t->tracks[i].picture);
        av_bsf_free(&t->tracks[i].filter);
        av_freep(&t->tracks[i].sound_name);
        av_freep(&t->tracks[i].name);
    }
    avformat_free_context(t->live);
    av_packet_free(&t->packet);
    av_freep(&t->tracks);
    av_freep(tracks);
}
