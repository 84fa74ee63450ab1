#include "media/output/container.h"

#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>

#include "media/convert.h"

/* Offset of the channel mapping family in the header of Opus (RFC 7845, 5.1). */
#define OPUS_FAMILY 18

/* Stream type of PES packets with private data (ISO/IEC 13818-1). */
#define TS_PRIVATE_DATA 6

/* The only rate that FFmpeg's MXF muxer writes. */
#define MXF_SOUND_RATE 48000

/* The highest of the few rates that FLV has a code for. */
#define FLV_SOUND_RATE 44100

static const AVOutputFormat *by_name(const char *name)
{
    const AVOutputFormat *muxer = av_guess_format(name, NULL, NULL);
    char file[64];
    snprintf(file, sizeof(file), "x.%s", name);
    return muxer ? muxer : av_guess_format(NULL, file, NULL);
}

/* Extensions of sound files whose containers could hold video. */
#define SOUND_NAMES "m4a,m4b,wma,mka,oga,opus,spx"

/* Muxers of sound files have PNG as their video codec, for covers. */
static int holds_video(const AVOutputFormat *muxer)
{
    return muxer->video_codec != AV_CODEC_ID_NONE &&
           (muxer->video_codec != AV_CODEC_ID_PNG || muxer->audio_codec == AV_CODEC_ID_NONE);
}

int container_find(const AVOutputFormat **muxer, const char *name, const char *path,
                   MediaError *error)
{
    *muxer = name ? by_name(name) : av_guess_format(NULL, path, NULL);
    if (!*muxer && name)
        return media_fail(
            error, MEDIA_USAGE,
            "--format %s: this FFmpeg has no such container; --format help lists those it has",
            media_quote(name));
    if (!*muxer)
        return media_fail(
            error, MEDIA_USAGE,
            "the name %s does not say which container to write; end it in .mp4, .mkv, "
            ".webm, .mov or .y4m, or use --format",
            media_quote(path));
    /* FFmpeg writes .mpg as MPEG-1, without fields and colour tags: use VOB, which has MPEG-2. */
    if (strcmp((*muxer)->name, "mpeg") == 0 && (!name || strcmp(name, "mpeg") != 0) &&
        av_guess_format("vob", NULL, NULL))
        *muxer = av_guess_format("vob", NULL, NULL);
    /* image2 opens files itself, by a pattern; image2pipe writes the same bytes. */
    if (strcmp((*muxer)->name, "image2") == 0)
        *muxer = av_guess_format("image2pipe", NULL, NULL);
    if (!*muxer || ((*muxer)->flags & AVFMT_NOFILE))
        return media_fail(
            error, MEDIA_USAGE,
            "the container %s opens files itself, which is not supported; use mp4, mkv, "
            "webm, mov or y4m",
            *muxer ? (*muxer)->name : "image2");
    if (name && !holds_video(*muxer))
        return media_fail(error, MEDIA_USAGE,
                          "--format %s: this container holds no video; --format help lists those "
                          "that do",
                          media_quote(name));
    if (!holds_video(*muxer) || (!name && av_match_ext(path, SOUND_NAMES)))
        return media_fail(error, MEDIA_USAGE,
                          "%s names a file type without video; end the name in .mp4, .mkv, .webm, "
                          ".mov or .y4m, or use --format",
                          media_quote(path));
    return 0;
}

const char *container_extension(const char *name, const char *path)
{
    static _Thread_local char first[16];
    const AVOutputFormat *muxer = by_name(name);
    const char *dot = strrchr(path, '.');
    if (!muxer || !muxer->extensions || (dot && av_match_ext(path, muxer->extensions)))
        return muxer && dot ? dot + 1 : NULL;
    const char *list = av_match_name(name, muxer->extensions) ? name : muxer->extensions;
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(list, ","), list);
    return first;
}

int container_promises_video(const char *path)
{
    const AVOutputFormat *muxer = av_guess_format(NULL, path, NULL);
    return muxer && !av_match_ext(path, SOUND_NAMES ",ogg") && holds_video(muxer);
}

bool container_is_picture(const AVOutputFormat *muxer)
{
    return strcmp(muxer->name, "image2pipe") == 0;
}

bool container_is_mp4(const AVOutputFormat *muxer)
{
    return av_match_name(muxer->name, "mp4,mov,ipod");
}

enum AVCodecID container_picture_codec(const AVOutputFormat *muxer, const char *path)
{
    const AVOutputFormat *pictures = av_guess_format("image2", NULL, NULL);
    if (!container_is_picture(muxer) || !pictures)
        return AV_CODEC_ID_NONE;
    return av_guess_codec(pictures, NULL, path, NULL, AVMEDIA_TYPE_VIDEO);
}

static bool is_mxf(const AVOutputFormat *muxer)
{
    return av_match_name(muxer->name, "mxf,mxf_d10,mxf_opatom");
}

#define OGG_CODECS "vorbis,opus,flac,speex,vp8,theora"
#define TS_CODECS                                                                                  \
    "mpeg1video,mpeg2video,mpeg4,h264,hevc,cavs,dirac,vc1,mp1,mp2,mp3,aac,aac_latm,ac3,eac3,dts,"  \
    "truehd,opus,s302m,dvb_subtitle,dvb_teletext,hdmv_pgs_subtitle,klv,timed_id3"
#define PROGRAM_CODECS                                                                             \
    "mpeg1video,mpeg2video,h264,mp1,mp2,mp3,ac3,dts,pcm_s16be,pcm_dvd,dvd_subtitle"
#define MXF_SOUND "pcm_s16le,pcm_s24le"

/* False if the muxer certainly does not support the codec. The Ogg and MPEG muxers do not
 * answer avformat_query_codec() and write unreadable files; the MXF muxer fails only later. */
static bool is_known(const AVOutputFormat *muxer, enum AVCodecID id)
{
    const char *name = avcodec_get_name(id);
    if (av_match_name(muxer->name, "ogg,oga,ogv,spx,opus"))
        return av_match_name(name, OGG_CODECS);
    if (is_mxf(muxer))
        return avcodec_get_type(id) != AVMEDIA_TYPE_AUDIO || av_match_name(name, MXF_SOUND);
    if (strcmp(muxer->name, "mpegts") == 0)
        return av_match_name(name, TS_CODECS);
    return !av_match_name(muxer->name, "mpeg,vob,svcd,vcd,dvd") ||
           av_match_name(name, PROGRAM_CODECS);
}

int container_compliance(const AVOutputFormat *muxer)
{
    return strcmp(muxer->name, "flv") == 0 ? FF_COMPLIANCE_NORMAL : FF_COMPLIANCE_EXPERIMENTAL;
}

bool container_takes(const AVOutputFormat *muxer, enum AVMediaType type, enum AVCodecID id)
{
    if (container_is_picture(muxer) || !is_known(muxer, id))
        return false;
    const int holds = avformat_query_codec(muxer, id, container_compliance(muxer));
    if (holds >= 0)
        return holds;
    /* The muxer does not answer queries. is_known() has decided for Ogg and MPEG. Other muxers are
     * assumed to accept all codecs of a type if they have a default codec of that type. */
    return av_match_name(muxer->name, "ogg,oga,ogv,spx,opus,mpegts,mpeg,vob,svcd,vcd,dvd") ||
           (type == AVMEDIA_TYPE_VIDEO && muxer->video_codec != AV_CODEC_ID_NONE) ||
           (type == AVMEDIA_TYPE_AUDIO && muxer->audio_codec != AV_CODEC_ID_NONE) ||
           (type == AVMEDIA_TYPE_SUBTITLE && muxer->subtitle_codec != AV_CODEC_ID_NONE);
}

unsigned container_tag(const AVOutputFormat *muxer, const AVCodecParameters *par)
{
    unsigned tag = 0;
    if (muxer->codec_tag && av_codec_get_id(muxer->codec_tag, par->codec_tag) != par->codec_id &&
        av_codec_get_tag2(muxer->codec_tag, par->codec_id, &tag))
        return 0;
    return par->codec_tag;
}

/* Writes a header to memory, because only this finds everything that a muxer refuses. */
int container_passes_trial(const AVOutputFormat *muxer, const AVStream *like)
{
    AVFormatContext *format = NULL;
    uint8_t *header = NULL;
    int ret = avformat_alloc_output_context2(&format, muxer, NULL, NULL);
    AVStream *stream = ret >= 0 ? avformat_new_stream(format, NULL) : NULL;
    if (!stream || avcodec_parameters_copy(stream->codecpar, like->codecpar) < 0)
        ret = AVERROR(ENOMEM);
    if (ret >= 0)
        ret = avio_open_dyn_buf(&format->pb);
    if (ret >= 0) {
        stream->codecpar->codec_tag = container_tag(muxer, like->codecpar);
        stream->time_base = like->time_base;
        stream->avg_frame_rate = like->avg_frame_rate;
        stream->disposition = like->disposition & AV_DISPOSITION_ATTACHED_PIC;
        format->strict_std_compliance = container_compliance(muxer);
        ret = avformat_write_header(format, NULL);
        (void)avio_close_dyn_buf(format->pb, &header);
        format->pb = NULL;
    }
    av_free(header);
    avformat_free_context(format);
    return ret >= 0;
}

bool container_keeps_matrix(const AVOutputFormat *muxer)
{
    return av_match_name(muxer->name, "mov,mp4,ipod,3gp,3g2,psp,ismv,f4v");
}

bool container_keeps_start(const AVOutputFormat *muxer)
{
    return !(muxer->flags & AVFMT_NOTIMESTAMPS) &&
           !av_match_name(muxer->name, "avi,dv,gxf,ismv,rm,swf,avm2");
}

bool container_wants_video_first(const AVOutputFormat *muxer)
{
    return is_mxf(muxer) || strcmp(muxer->name, "gxf") == 0;
}

int container_sound_rate(const AVOutputFormat *muxer, enum AVCodecID id)
{
    if (strcmp(muxer->name, "flv") == 0)
        return id == AV_CODEC_ID_AAC ? 0 : FLV_SOUND_RATE;
    return is_mxf(muxer) ? MXF_SOUND_RATE : 0;
}

bool container_takes_stream(const AVOutputFormat *muxer, const AVStream *stream)
{
    const AVCodecParameters *par = stream->codecpar;
    /* Only nut stores the format of uncompressed video with more than 8 bits. avi and mov accept
     * such video, but players misread its format. */
    return container_takes(muxer, par->codec_type, par->codec_id) &&
           (par->codec_id != AV_CODEC_ID_RAWVIDEO || convert_depth(par->format) <= 8 ||
            av_codec_get_id(muxer->codec_tag, par->codec_tag) == par->codec_id) &&
           container_passes_trial(muxer, stream);
}

/* True if channels would be lost without an error. FLV marks all sound except AAC as mono or
 * stereo, and transport streams lack a code for some layouts of Opus. */
static int hides_channels(const AVOutputFormat *muxer, const AVCodecParameters *par)
{
    const int channels = par->ch_layout.nb_channels;
    if (strcmp(muxer->name, "flv") == 0)
        return par->codec_id != AV_CODEC_ID_AAC && channels > 2;
    const bool has_family = par->codec_id == AV_CODEC_ID_OPUS && par->extradata_size > OPUS_FAMILY;
    return strcmp(muxer->name, "mpegts") == 0 && has_family &&
           (par->extradata[OPUS_FAMILY] > 1 || channels == 7);
}

const char *container_refusal(const AVOutputFormat *muxer, const AVStream *stream)
{
    const AVCodecParameters *par = stream->codecpar;
    /* Private data of a transport stream may be copied into another one. */
    const bool is_private = strcmp(muxer->name, "mpegts") == 0 &&
                            par->codec_id == AV_CODEC_ID_BIN_DATA &&
                            par->codec_tag == TS_PRIVATE_DATA;
    if (par->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return av_match_name("matroska", muxer->name) ? NULL
                                                      : "the container cannot hold attachments";
    if (par->codec_type == AVMEDIA_TYPE_AUDIO && muxer->audio_codec == AV_CODEC_ID_NONE)
        return "the container cannot hold sound";
    if (muxer->audio_codec == AV_CODEC_ID_NONE) /* pictures and raw streams */
        return "the container can hold only the video";
    if (!container_takes(muxer, par->codec_type, par->codec_id) && !is_private)
        return "the container does not support this codec";
    const int other = par->codec_type == AVMEDIA_TYPE_AUDIO && is_mxf(muxer) &&
                      par->sample_rate != MXF_SOUND_RATE;
    /* The MXF muxer writes no header without video, so the trial would always fail. */
    if (other || hides_channels(muxer, par) ||
        (!is_mxf(muxer) && !container_passes_trial(muxer, stream)))
        return "the container does not support it in this form";
    return NULL;
}
