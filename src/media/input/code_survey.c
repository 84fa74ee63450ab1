#include "media/input/code_survey.h"

#include "media/convert.h"
#include "media/input/decoder.h"

/* Number of key frames to measure, and the distance between them if the duration is unknown. */
#define FRAMES 24
#define STEP_US INT64_C(1000000)

/* In files with fewer than FEW_KEYS key frames, also measure every 10th of the first 500 frames. */
#define FEW_KEYS 8
#define FOLLOWED 500
#define EVERY 10

typedef struct Survey {
    Source *source;
    Decoder *decoder;
    AVPacket *packet;
    AVFrame *frame;
    CodeRange *range;
    int64_t begin, end; /* timestamps in AV_TIME_BASE units */
    int64_t last;       /* pts of the last measured key frame */
    int keys;           /* number of measured key frames */
} Survey;

int code_survey_suits(const CodeRange *range, const Source *source)
{
    return range->mode != CODE_RANGE_FULL && S_ISREG(source->file.st_mode) &&
           !source->pictures.count && source_can_seek(source) &&
           code_range_suits(convert_nearest_direct(source->video->codecpar->format));
}

static int add(const Survey *s)
{
    return code_range_suits(s->frame->format) ? code_range_add(s->range, s->frame) : 0;
}

/* True between `begin` and `end`. After a seek, the key frame may be before `begin`. */
static bool is_inside(const Survey *s)
{
    const int64_t time = av_rescale_q(s->frame->pts, s->frame->time_base, AV_TIME_BASE_Q);
    return time >= s->begin && time < s->end;
}

static int read_video(Survey *s)
{
    int ret;
    while ((ret = source_read(s->source, s->packet)) >= 0 &&
           s->packet->stream_index != s->source->video->index)
        av_packet_unref(s->packet);
    return ret;
}

static void seek(Survey *s, int64_t position)
{
    decoder_flush(s->decoder);
    source_seek(s->source, position);
}

/* Decodes and adds the key frame at or before a position, unless it was the last one added. */
static int add_key(Survey *s, int64_t position)
{
    MediaError none = {0};
    seek(s, position);
    int ret = read_video(s);
    if (ret >= 0)
        ret = decoder_send(s->decoder, s->packet);
    av_packet_unref(s->packet);
    if (ret >= 0)
        ret = decoder_send(s->decoder, NULL);
    if (ret < 0 || decoder_receive(s->decoder, s->frame, &none) < 0)
        return 0;
    const bool is_new = is_inside(s) && (!s->keys || s->frame->pts != s->last);
    if (is_new)
        s->last = s->frame->pts;
    s->keys += is_new;
    ret = is_new ? add(s) : 0;
    av_frame_unref(s->frame);
    return ret;
}

static int add_following(Survey *s, int64_t position)
{
    MediaError none = {0};
    int ret = 0, followed = 0;
    seek(s, position);
    for (int i = 0; i < FOLLOWED && ret >= 0;) {
        ret = decoder_receive(s->decoder, s->frame, &none);
        if (ret == AVERROR(EAGAIN)) {
            ret = decoder_send(s->decoder, read_video(s) >= 0 ? s->packet : NULL);
            av_packet_unref(s->packet);
        } else if (ret >= 0) {
            i++;
            if (is_inside(s) && followed++ % EVERY == 0)
                ret = add(s);
            av_frame_unref(s->frame);
        }
    }
    return ret;
}

int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us, MediaError *error)
{
    const int64_t begin = FFMAX(from_us, 0), duration = source_duration(source);
    const int64_t start = source_start(source);
    int64_t end = duration > 0 ? FFMAX(duration, begin) : begin + FRAMES * STEP_US;
    if (to_us >= 0)
        end = to_us;
    Survey s = {.source = source,
                .packet = av_packet_alloc(),
                .frame = av_frame_alloc(),
                .range = range,
                .begin = start + begin,
                .end = start + end};
    for (unsigned i = 0; i < source->format->nb_streams; i++)
        if (source->format->streams[i] != source->video)
            source->format->streams[i]->discard = AVDISCARD_ALL;
    int ret = s.packet && s.frame ? 0 : media_no_memory(error, MEDIA_INPUT);
    if (ret >= 0)
        ret = decoder_open(&s.decoder, source, &(DecoderOptions){.threads = 1}, error);
    for (int i = 0; i < FRAMES && ret >= 0; i++)
        ret = add_key(&s, begin + (end - begin) * (2 * i + 1) / (2 * FRAMES));
    if (ret >= 0 && s.keys < FEW_KEYS)
        ret = add_following(&s, begin);
    decoder_close(&s.decoder);
    av_frame_free(&s.frame);
    av_packet_free(&s.packet);
    source_close(&s.source);
    if (error->fault)
        return error->fault;
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_INPUT);
    code_range_decide(range);
    return 0;
}
