#include "media/input/code_survey.h"

#include "media/convert.h"
#include "media/input/thumbnail.h"

/* Key frames to measure, and their distance if the duration is unknown. */
#define FRAMES 24
#define STEP_US INT64_C(1000000)

/* Files with fewer key frames: measure every 10th of the first 500 frames. */
#define FEW_KEYS 8
#define FOLLOWED 500
#define EVERY 10

int code_survey_suits(const CodeRange *range, const Source *source)
{
    return range->mode != CODE_RANGE_FULL && S_ISREG(source->file.st_mode) &&
           !source->pictures.count && source_can_seek(source) &&
           code_range_suits(convert_nearest_direct(source->video->codecpar->format));
}

typedef struct Survey {
    CodeRange *range;
    int64_t begin, end; /* absolute, AV_TIME_BASE units */
    int64_t last;       /* pts of the last measured key frame */
    int keys;           /* distinct key frames in the part */
    int followed;       /* frames from thumbnails_follow() in the part */
} Survey;

static int add(Survey *s, const AVFrame *frame)
{
    CodeUse use;
    const int ret = code_range_suits(frame->format) ? code_range_measure(frame, &use) : 1;
    if (ret == 0)
        code_range_add(s->range, frame, &use);
    return ret < 0 ? ret : 0;
}

/* True if the frame is in the part; a key frame may precede it. */
static int is_inside(const Survey *s, const AVFrame *frame)
{
    const int64_t time = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    return time >= s->begin && time < s->end;
}

static int add_key(Survey *s, Thumbnails *thumbnails, int64_t position)
{
    MediaError none = {0};
    AVFrame *frame = NULL;
    if (thumbnails_decode(thumbnails, position, &frame, &none) < 0)
        return 0;
    const int is_new = is_inside(s, frame) && (!s->keys || frame->pts != s->last);
    if (is_new)
        s->last = frame->pts;
    s->keys += is_new;
    const int ret = is_new ? add(s, frame) : 0;
    av_frame_free(&frame);
    return ret;
}

static int add_followed(void *survey, const AVFrame *frame)
{
    Survey *s = survey;
    if (!is_inside(s, frame))
        return 0;
    return s->followed++ % EVERY == 0 ? add(s, frame) : 0;
}

int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us, MediaError *error)
{
    const int64_t begin = FFMAX(from_us, 0), duration = source_duration(source);
    const int64_t start = source_start(source);
    const int64_t end = to_us >= 0     ? to_us
                        : duration > 0 ? FFMAX(duration, begin)
                                       : begin + FRAMES * STEP_US;
    Survey s = {.range = range, .begin = start + begin, .end = start + end};
    Thumbnails *thumbnails = NULL;
    int ret = thumbnails_open(&thumbnails, source, error);
    if (ret < 0)
        return ret;
    for (int i = 0; i < FRAMES && ret >= 0; i++)
        ret = add_key(&s, thumbnails, begin + (end - begin) * (2 * i + 1) / (2 * FRAMES));
    MediaError none = {0};
    if (ret >= 0 && s.keys < FEW_KEYS)
        ret = thumbnails_follow(thumbnails, begin, FOLLOWED, add_followed, &s, &none);
    thumbnails_close(&thumbnails);
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_INPUT);
    code_range_decide(range);
    return 0;
}
