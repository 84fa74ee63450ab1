#include "media/input/code_survey.h"

#include "media/convert.h"
#include "media/input/thumbnail.h"

/* Frames that are measured, and how far apart they are if the duration is unknown. */
#define FRAMES 24
#define STEP_US INT64_C(1000000)

int code_survey_suits(const CodeRange *range, const Source *source)
{
    return range->mode != CODE_RANGE_FULL && S_ISREG(source->file.st_mode) &&
           !source->pictures.count && source_can_seek(source) &&
           code_range_suits(convert_nearest_direct(source->video->codecpar->format));
}

static int add_frame(CodeRange *range, Thumbnails *thumbnails, int64_t position, MediaError *error)
{
    MediaError none = {0};
    CodeUse use;
    AVFrame *frame = NULL;
    if (thumbnails_decode(thumbnails, position, &frame, &none) < 0)
        return 0;
    int ret = 0;
    if (code_range_suits(frame->format)) {
        ret = code_range_measure(frame, &use);
        if (ret >= 0)
            code_range_add(range, frame, &use);
    }
    av_frame_free(&frame);
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "out of memory") : 0;
}

int code_survey(CodeRange *range, Source *source, int64_t from_us, int64_t to_us, MediaError *error)
{
    const int64_t begin = FFMAX(from_us, 0), duration = source_duration(source);
    const int64_t end = to_us >= 0     ? to_us
                        : duration > 0 ? FFMAX(duration, begin)
                                       : begin + FRAMES * STEP_US;
    Thumbnails *thumbnails = NULL;
    int ret = thumbnails_open(&thumbnails, source, error);
    for (int i = 0; i < FRAMES && ret >= 0; i++)
        ret =
            add_frame(range, thumbnails, begin + (end - begin) * (2 * i + 1) / (2 * FRAMES), error);
    thumbnails_close(&thumbnails);
    if (ret >= 0)
        code_range_decide(range);
    return ret;
}
