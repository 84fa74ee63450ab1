#include "media/output/changed_sound.h"

#include <stdio.h>
#include <string.h>

#include <libavcodec/ac3_parser.h>
#include <libavcodec/adts_parser.h>
#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>

#include "media/compat.h"

#define ADTS_BYTES 7
#define ADTS_LAYER 6 /* bits of the second byte that are 0 */

/* Object types up to this one (SBR) have decoders that take AAC-LC. */
#define MOST_OBJECT 5

/* Sampling rates of AAC with an index, which are those of the encoder. */
#define AAC_RATES 13

/* Muxers that keep ADTS headers, so that each packet of AAC describes itself. */
#define ADTS_MUXERS "mpegts,nut,avi"

/* The same bits in all frame headers of MPEG audio: sync, version, layer and sampling rate. */
#define MPEG_AUDIO_HEADER 0xfffe0c00
#define MPEG_AUDIO_BYTES 4

/* The demuxer cuts the first and last frames of another codec. */
#define MOST_CUT_US 100000

struct ChangedSound {
    const AVOutputFormat *muxer;
    AVCodecParameters *first, *now; /* at the track's beginning, and now */
    unsigned shape, shape_now;      /* of AAC: adts_shape(); 0: unknown */
    unsigned shape_before;          /* of the last packet with a header */
    uint8_t adts[ADTS_BYTES];       /* header of the first packet, or zeros */
    uint32_t mpeg_audio;            /* of the first packet, see MPEG_AUDIO_HEADER; or 0 */
    int began, describes_itself;    /* frames of the first codec have headers */
    AVRational base, encoded_base;
    AVFormatContext *scratch; /* streams of the transcoder */
    AudioTranscoder *transcoder;
    AVCodecParserContext *parser; /* of another codec, whose frames the demuxer did not find */
    AVCodecContext *parsed;
    AVPacket *frame;
    AVPacket *held;     /* an unknown packet, until the next one */
    int is_unknown;     /* it has no header of the track's codec, or another one than before */
    int64_t copied_end; /* of the last copied packet */
    int64_t resumes;    /* time of the next copied packet */
    int64_t end;        /* of the last packet */
    int is_silent, is_noted;
    int64_t missing;
    SoundLoss loss;
    char *name;
    void (*note)(const char *line);
    PacketTaker take;
    void *opaque;
};

ChangedSound *changed_sound_create(const AVStream *in, const AVOutputFormat *muxer,
                                   const char *name, void (*note)(const char *line))
{
    ChangedSound *c = av_mallocz(sizeof(*c));
    if (!c)
        return NULL;
    c->muxer = muxer;
    c->base = in->time_base;
    c->copied_end = INT64_MIN;
    c->resumes = INT64_MAX;
    c->note = note;
    c->name = av_strdup(name);
    c->frame = av_packet_alloc();
    c->held = av_packet_alloc();
    c->first = avcodec_parameters_alloc();
    c->now = avcodec_parameters_alloc();
    if (!c->name || !c->frame || !c->held || !c->first || !c->now ||
        avcodec_parameters_copy(c->first, in->codecpar) < 0 ||
        avcodec_parameters_copy(c->now, in->codecpar) < 0)
        changed_sound_close(&c);
    return c;
}

/* ---- what packets say ---- */

/* Each returns the length of the frame that begins at `d`; 0: none. */
static int adts_length(const uint8_t *d, int size)
{
    uint32_t samples;
    uint8_t frames;
    if (size < ADTS_BYTES || (d[1] & ADTS_LAYER) || av_adts_header_parse(d, &samples, &frames) < 0)
        return 0;
    return (d[3] & 3) << 11 | d[4] << 3 | d[5] >> 5;
}

static int ac3_length(const uint8_t *d, int size)
{
    uint8_t version;
    uint16_t length;
    return av_ac3_parse_header(d, (size_t)size, &version, &length) < 0 ? 0 : length;
}

/* Object type (5 bits), index of the sampling rate (4) and channels (4) of AAC, as an
 * AudioSpecificConfig begins with (ISO/IEC 14496-3); 0: this is no frame with an ADTS header. */
static unsigned adts_shape(const AVPacket *packet)
{
    const uint8_t *d = packet->data;
    if (adts_length(d, packet->size) != packet->size)
        return 0;
    return ((d[2] >> 6) + 1U) << 11 | (d[2] >> 2 & 15U) << 7 | (d[2] & 1U) << 5 | d[3] >> 6 << 3;
}

/* Returns the header's fixed bits, or 0. */
static uint32_t mpeg_audio_header(const uint8_t *data, int size)
{
    const uint32_t h = size < MPEG_AUDIO_BYTES ? 0 : AV_RB32(data);
    const int is_valid = h >> 21 == 0x7ff && (h >> 19 & 3) != 1 && (h >> 17 & 3) &&
                         (h >> 12 & 15) % 15 && (h >> 10 & 3) != 3;
    return is_valid ? h & MPEG_AUDIO_HEADER : 0;
}

static int is_mpeg_audio(enum AVCodecID id)
{
    return id == AV_CODEC_ID_MP1 || id == AV_CODEC_ID_MP2 || id == AV_CODEC_ID_MP3;
}

static int is_ac3(enum AVCodecID id)
{
    return id == AV_CODEC_ID_AC3 || id == AV_CODEC_ID_EAC3;
}

/* True if the packet begins with a frame of the track's codec. */
static int is_own(const ChangedSound *c, const AVPacket *packet)
{
    const enum AVCodecID id = c->first->codec_id;
    if (id == AV_CODEC_ID_AAC && c->now->codec_id == id)
        return adts_shape(packet) != 0;
    if (id == AV_CODEC_ID_AAC) /* the demuxer's parser may cut other sound into such frames */
        return adts_shape(packet) == c->shape;
    if (is_mpeg_audio(id)) {
        const uint32_t header = mpeg_audio_header(packet->data, packet->size);
        return header && (!c->mpeg_audio || header == c->mpeg_audio);
    }
    const int length = is_ac3(id) ? ac3_length(packet->data, packet->size) : 0;
    return length && (length == packet->size || /* substreams of E-AC-3 follow */
                      ac3_length(packet->data + length, packet->size - length));
}

/* Layers 2 and 3 only. */
static int mpeg_audio_length(const uint8_t *d, int size)
{
    static const uint16_t kbps[3][14] = {
        {32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384}, /* MPEG-1, layer 2 */
        {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},  /* MPEG-1, layer 3 */
        {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},      /* MPEG-2 */
    };
    static const int rates[] = {44100, 48000, 32000};
    const uint32_t h = mpeg_audio_header(d, size) ? AV_RB32(d) : 0;
    const int version = h >> 19 & 3, is_layer_3 = (h >> 17 & 3) == 1;
    if (!h || (h >> 17 & 3) == 3)
        return 0;
    const int rate = rates[h >> 10 & 3] / (version == 3 ? 1 : 4 - version);
    const int bits = kbps[version == 3 ? is_layer_3 : 2][(h >> 12 & 15) - 1] * 1000;
    return (is_layer_3 && version != 3 ? 72 : 144) * bits / rate + (h >> 9 & 1);
}

/* Finds two frames of another codec in a row, or returns the first codec. In a transport stream,
 * the demuxer does not notice that the codec changes. */
static enum AVCodecID find_other(const AVPacket *packet, enum AVCodecID first)
{
    const struct {
        int (*length)(const uint8_t *d, int size);
        enum AVCodecID codec;
        int is_first;
    } others[] = {{adts_length, AV_CODEC_ID_AAC, first == AV_CODEC_ID_AAC},
                  {ac3_length, AV_CODEC_ID_AC3, is_ac3(first)},
                  {mpeg_audio_length, AV_CODEC_ID_MP2, is_mpeg_audio(first)}};
    for (int i = 0; i < packet->size; i++)
        for (int k = 0; k < 3; k++) {
            const uint8_t *d = packet->data + i;
            const int left = packet->size - i;
            const int length = others[k].is_first ? 0 : others[k].length(d, left);
            if (length && length < left && others[k].length(d + length, left - length) &&
                AV_RB16(d) == AV_RB16(d + length))
                return others[k].codec;
        }
    return first;
}

static void begin(ChangedSound *c, const AVPacket *packet, unsigned shape)
{
    const AVCodecParameters *first = c->first;
    c->describes_itself = is_own(c, packet);
    if (is_mpeg_audio(first->codec_id) && c->describes_itself)
        c->mpeg_audio = mpeg_audio_header(packet->data, packet->size);
    if (shape)
        memcpy(c->adts, packet->data, ADTS_BYTES);
    else if (first->extradata_size >= 2)
        shape = AV_RB16(first->extradata);
    c->shape = c->shape_now = shape;
    c->began = 1;
}

/* Returns 1 if the packet is of another kind than the one before it, or AVERROR. */
static int look(ChangedSound *c, const AVPacket *packet)
{
    AVCodecParameters *now = c->now;
    const enum AVCodecID codec = now->codec_id;
    const unsigned shape = codec == AV_CODEC_ID_AAC ? adts_shape(packet) : 0, before = c->shape_now;
    size_t size;
    const uint8_t *extra = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (!c->began)
        begin(c, packet, shape);
    if (c->describes_itself) {
        const enum AVCodecID first = c->first->codec_id;
        c->is_unknown = !is_own(c, packet);
        if (!c->is_unknown)
            now->codec_id = first;
        else if (now->codec_id == first)
            now->codec_id = find_other(packet, first);
    }
    int differs = codec != now->codec_id;
    if (extra && (now->extradata_size != (int)size || memcmp(now->extradata, extra, size) != 0)) {
        av_freep(&now->extradata);
        now->extradata_size = 0;
        now->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
        if (!now->extradata)
            return AVERROR(ENOMEM);
        memcpy(now->extradata, extra, size);
        now->extradata_size = (int)size;
        differs = 1;
    }
    if (shape && c->first->codec_id == AV_CODEC_ID_AAC && now->codec_id == AV_CODEC_ID_AAC &&
        !av_match_name(c->muxer->name, ADTS_MUXERS)) {
        /* Two headers are no damage. */
        c->is_unknown |= shape != c->shape_now && shape != c->shape_before;
        c->shape_now = c->is_unknown ? c->shape_now : shape;
        c->shape_before = shape;
    }
    return differs || c->shape_now != before;
}

static int is_like_first(const ChangedSound *c)
{
    const AVCodecParameters *a = c->first, *b = c->now;
    return a->codec_id == b->codec_id && c->shape == c->shape_now &&
           a->extradata_size == b->extradata_size &&
           (!a->extradata_size || !memcmp(a->extradata, b->extradata, (size_t)a->extradata_size));
}

/* ---- encoding ---- */

static int wrap_adts(const ChangedSound *c, AVPacket *packet)
{
    const int size = packet->size, length = size + ADTS_BYTES;
    if (av_grow_packet(packet, ADTS_BYTES) < 0 || av_packet_make_writable(packet) < 0)
        return AVERROR(ENOMEM);
    uint8_t *d = packet->data;
    memmove(d + ADTS_BYTES, d, (size_t)size);
    memcpy(d, c->adts, ADTS_BYTES);
    d[1] |= 1; /* no checksum */
    d[3] = (uint8_t)((d[3] & 0xfc) | length >> 11);
    d[4] = (uint8_t)(length >> 3);
    d[5] = (uint8_t)((length & 7) << 5 | (d[5] & 0x1f));
    d[6] &= 0xfc;
    return 0;
}

/* Packets overlap the copied ones by the encoder's padding. */
static int pass(void *opaque, AVPacket *packet)
{
    const ChangedSound *c = opaque;
    const int64_t middle =
        av_rescale_q(packet->pts + packet->duration / 2, c->encoded_base, c->base);
    if (middle < c->copied_end || middle > c->resumes) {
        av_packet_unref(packet);
        return 0;
    }
    const int ret = c->adts[0] ? wrap_adts(c, packet) : 0;
    return ret < 0 ? ret : c->take(c->opaque, packet);
}

/* Parameters of the encoder. Those of AAC hold without its extensions (SBR, PS), which the encoder
 * does not have. */
static int shape_like_first(const ChangedSound *c, const AVCodec *encoder, AVCodecParameters *par)
{
    const int *rates = codec_sample_rates(encoder);
    const unsigned object = c->shape >> 11, rate = c->shape >> 7 & 15,
                   channels = c->shape >> 3 & 15;
    if (avcodec_parameters_copy(par, c->first) < 0)
        return AVERROR(ENOMEM);
    if (par->codec_id != AV_CODEC_ID_AAC)
        return 0;
    if (!object || object > MOST_OBJECT || rate >= AAC_RATES || !rates || !channels || channels > 6)
        return AVERROR(ENOSYS);
    par->sample_rate = rates[rate];
    av_channel_layout_uninit(&par->ch_layout);
    av_channel_layout_default(&par->ch_layout, (int)channels);
    if (channels == 3)
        par->ch_layout = (AVChannelLayout)AV_CHANNEL_LAYOUT_SURROUND;
    return 0;
}

/* True if a decoder of the track takes the encoder's packets. */
static int fits(const ChangedSound *c, const AVCodecParameters *wanted,
                const AVCodecParameters *got)
{
    const AVCodecParameters *first = c->first;
    if (got->sample_rate != wanted->sample_rate ||
        got->ch_layout.nb_channels != wanted->ch_layout.nb_channels)
        return 0;
    if (first->codec_id == AV_CODEC_ID_AAC)
        return got->extradata_size >= 2 &&
               (AV_RB16(got->extradata) >> 3 & 0xff) == (c->shape >> 3 & 0xff);
    if (first->codec_id == AV_CODEC_ID_OPUS)
        return wanted->ch_layout.nb_channels <= 2;
    return !first->extradata_size ||
           (first->extradata_size == got->extradata_size &&
            !memcmp(first->extradata, got->extradata, (size_t)got->extradata_size));
}

static int open_parser(ChangedSound *c)
{
    c->parser = av_parser_init(c->now->codec_id);
    c->parsed = avcodec_alloc_context3(NULL);
    if (!c->parser || !c->parsed)
        return AVERROR(ENOMEM);
    c->parsed->codec_id = c->now->codec_id;
    return 0;
}

static int open_transcoder(ChangedSound *c)
{
    const AVCodec *encoder = avcodec_find_encoder(c->first->codec_id);
    if (!encoder || (encoder->capabilities & AV_CODEC_CAP_EXPERIMENTAL))
        return AVERROR_ENCODER_NOT_FOUND;
    c->scratch = avformat_alloc_context();
    AVStream *in = c->scratch ? avformat_new_stream(c->scratch, NULL) : NULL;
    AVStream *out = in ? avformat_new_stream(c->scratch, NULL) : NULL;
    AVStream *like = out ? avformat_new_stream(c->scratch, NULL) : NULL;
    if (!like || avcodec_parameters_copy(in->codecpar, c->now) < 0)
        return AVERROR(ENOMEM);
    in->time_base = c->base;
    if (c->now->codec_id != c->first->codec_id) {
        av_freep(&in->codecpar->extradata);
        in->codecpar->extradata_size = 0;
    }
    int ret = shape_like_first(c, encoder, like->codecpar);
    if (ret >= 0)
        ret = audio_transcoder_open(&c->transcoder, in, out, encoder, c->muxer, 0, like->codecpar);
    if (ret >= 0 && !fits(c, like->codecpar, out->codecpar))
        ret = AVERROR(ENOSYS);
    c->encoded_base = out->time_base;
    return ret >= 0 && c->now->codec_id != c->first->codec_id ? open_parser(c) : ret;
}

static void close_part(ChangedSound *c)
{
    SoundLoss loss = {0};
    if (c->transcoder)
        loss = audio_transcoder_loss(c->transcoder);
    if (!c->parser || loss.silence > MOST_CUT_US) {
        c->loss.silence += loss.silence;
        c->loss.errors += loss.errors;
    }
    audio_transcoder_close(&c->transcoder);
    avformat_free_context(c->scratch);
    c->scratch = NULL;
    av_parser_close(c->parser);
    c->parser = NULL;
    avcodec_free_context(&c->parsed);
}

static int begin_part(ChangedSound *c, const AVPacket *packet)
{
    char line[320];
    const int ret = open_transcoder(c);
    if (ret < 0)
        close_part(c);
    if (ret == AVERROR(ENOMEM))
        return ret;
    c->is_silent = ret < 0;
    if (c->note && !c->is_noted++) {
        snprintf(line, sizeof(line),
                 "%s changes at %.2f s: sound that differs from its beginning is %s", c->name,
                 (double)packet->pts * av_q2d(c->base),
                 ret < 0 ? "left out, since no encoder can match it" : "encoded to match it");
        c->note(line);
    }
    return 0;
}

/* Encodes the frames in the data. */
static int parse(ChangedSound *c, const uint8_t *data, int size, int64_t pts)
{
    int ret = 0, used, frame_size;
    do {
        uint8_t *frame;
        used = av_parser_parse2(c->parser, c->parsed, &frame, &frame_size, data, size, pts, pts, 0);
        data += used;
        size -= used;
        pts = AV_NOPTS_VALUE;
        if (frame_size)
            ret = av_new_packet(c->frame, frame_size);
        if (ret < 0 || !frame_size)
            continue;
        memcpy(c->frame->data, frame, (size_t)frame_size);
        c->frame->pts = c->frame->dts = c->parser->pts;
        ret = audio_transcoder_run(c->transcoder, c->frame, pass, c);
        av_packet_unref(c->frame);
    } while (ret >= 0 && (size > 0 || (!used && frame_size)));
    return ret;
}

/* Ends sound of another kind, which a copied packet follows at `resumes`. */
static int end_part(ChangedSound *c, int64_t resumes)
{
    int ret = 0;
    c->resumes = resumes;
    if (c->is_silent && c->end > c->copied_end)
        c->missing += av_rescale_q(FFMIN(resumes, c->end) - c->copied_end, c->base, AV_TIME_BASE_Q);
    c->is_silent = 0;
    if (c->parser)
        ret = parse(c, c->adts, 0, AV_NOPTS_VALUE);
    if (ret >= 0 && c->transcoder)
        ret = audio_transcoder_run(c->transcoder, NULL, pass, c);
    close_part(c);
    c->resumes = INT64_MAX;
    return ret;
}

/* Copies the packet that waited, or takes it for the begin of sound of another codec. */
static int release(ChangedSound *c, int copies)
{
    int ret = 0;
    if (!c->held->data)
        return 0;
    if (copies) {
        c->encoded_base = c->base;
        ret = c->take(c->opaque, c->held);
    } else if (c->parser) {
        ret = parse(c, c->held->data, c->held->size, c->held->pts);
    } else if (c->transcoder) {
        ret = audio_transcoder_run(c->transcoder, c->held, pass, c);
    }
    av_packet_unref(c->held);
    return ret;
}

static int encode_part(ChangedSound *c, const AVPacket *packet)
{
    int ret = 0;
    if (!c->transcoder && !c->is_silent)
        ret = begin_part(c, packet);
    if (ret >= 0)
        ret = release(c, 0);
    if (ret >= 0 && c->parser)
        ret = parse(c, packet->data, packet->size, packet->pts);
    else if (ret >= 0 && c->transcoder)
        ret = audio_transcoder_run(c->transcoder, packet, pass, c);
    return ret;
}

int changed_sound_run(ChangedSound *c, const AVPacket *packet, PacketTaker take, void *opaque)
{
    c->take = take;
    c->opaque = opaque;
    if (!packet) {
        const int ret = release(c, 1);
        return ret < 0 ? ret : end_part(c, INT64_MAX);
    }
    const int64_t end =
        packet->pts == AV_NOPTS_VALUE ? AV_NOPTS_VALUE : packet->pts + packet->duration;
    int ret = look(c, packet);
    if (ret > 0)
        ret = end_part(c, packet->pts == AV_NOPTS_VALUE ? INT64_MAX : packet->pts);
    if (ret < 0)
        return ret;
    if (!is_like_first(c)) {
        ret = encode_part(c, packet);
    } else {
        ret = release(c, 1);
        c->copied_end = c->end;
        if (ret >= 0 && c->is_unknown) /* the next one tells what it is */
            return av_packet_ref(c->held, packet);
        c->copied_end = end == AV_NOPTS_VALUE ? c->copied_end : end;
    }
    if (end != AV_NOPTS_VALUE)
        c->end = end;
    return ret < 0 ? ret : is_like_first(c);
}

AVRational changed_sound_base(const ChangedSound *c)
{
    return c->encoded_base;
}

SoundLoss changed_sound_loss(const ChangedSound *c, int64_t *missing)
{
    *missing = c->missing;
    return c->loss;
}

void changed_sound_close(ChangedSound **sound)
{
    ChangedSound *c = *sound;
    if (!c)
        return;
    close_part(c);
    avcodec_parameters_free(&c->first);
    avcodec_parameters_free(&c->now);
    av_packet_free(&c->frame);
    av_packet_free(&c->held);
    av_freep(&c->name);
    av_freep(sound);
}
