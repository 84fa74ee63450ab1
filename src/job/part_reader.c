#include "job/part_reader.h"

#include <string.h>

#include "run/measure_pass.h"

#define FIRST_STEP_US INT64_C(4000000)
#define MOST_TRIES 40

#define BEFORE ((int)(sizeof(((PartPlace *)0)->before) / sizeof(AVFrame *)))

int64_t part_seek_again(const JobPart *part, int tries)
{
    int64_t back = 0;
    for (int i = 0; i < tries; i++)
        back = back ? 4 * back : FIRST_STEP_US;
    return part->seek_us > back ? part->seek_us - back : -1;
}

void part_reader_close(PartPlace *p)
{
    for (int i = 0; i < BEFORE; i++)
        av_frame_free(&p->before[i]);
    input_close(&p->input);
    source_close(&p->source);
}

/* Opens the film again; frames are converted to `depth` bits. */
static int open_try(PartPlace *p, int depth, MediaError *error)
{
    part_reader_close(p);
    p->options.span = &p->span;
    int ret = p->open(p->opaque, &p->source, error);
    if (ret >= 0)
        ret = input_open(&p->input, p->source, &p->options, error);
    if (ret >= 0 && depth)
        decoder_deepen(input_decoder(p->input), depth);
    return ret >= 0 ? input_start(p->input, NULL, error) : ret;
}

/* Reads up to the frame before the part. Returns 1 if it came, 0 if not. */
static int read_up_to(PartPlace *p, const JobPlan *plan, const JobPart *part, MediaError *error)
{
    int found = 0, ret = 0;
    while (!found && ret >= 0) {
        Frame *taken = NULL;
        ret = input_take(p->input, &taken, QUEUE_WAIT, error);
        AVFrame *frame = taken ? taken->decoded.frame : NULL;
        if (frame) {
            const int64_t pts =
                frame->pts + av_rescale_q(plan->zero, AV_TIME_BASE_Q, frame->time_base);
            av_frame_free(&p->before[BEFORE - 1]);
            memmove(&p->before[1], &p->before[0], (BEFORE - 1) * sizeof(p->before[0]));
            p->before[0] = frame;
            taken->decoded.frame = NULL;
            found = pts >= part->before_pts ? 1 + (pts > part->before_pts) : 0;
        }
        frame_free(&taken);
    }
    return error->fault ? error->fault : found == 1;
}

/* Returns 1 if the frames before the part came out as they were measured, 0 if not. */
static int try_place(PartPlace *p, const JobPlan *plan, const JobPart *part, MediaError *error)
{
    uint32_t marks[2];
    int ret = open_try(p, 0, error);
    if (ret >= 0)
        ret = read_up_to(p, plan, part, error);
    if (ret > 0 && measure_pass_marks(p->context, p->params, p->before, marks, error) < 0)
        ret = error->fault;
    return ret > 0 ? marks[0] == part->before[0] && marks[1] == part->before[1] : ret;
}

int part_reader_open(PartPlace *p, const JobPlan *plan, const JobPart *part, MediaError *error)
{
    const int first = part->begin_pts == INT64_MIN;
    int ret = first;
    p->span = (InputSpan){-1, plan->zero, part->begin_pts, part->end_pts};
    for (int tries = 0; ret == 0 && tries < MOST_TRIES; tries++) {
        p->span.seek_us = part_seek_again(part, tries);
        ret = try_place(p, plan, part, error);
        if (ret == 0 && (p->span.seek_us < 0 || atomic_load(p->source->stop)))
            break;
    }
    if (ret > 0 && (first || plan->depth)) /* marks are of frames in their own depth */
        ret = open_try(p, plan->depth, error) < 0 ? error->fault
              : first                             ? 1
                                                  : read_up_to(p, plan, part, error);
    return ret > 0 ? 0
                   : media_fail(error, MEDIA_INPUT,
                                "the frames of %s differ from those that were measured: all steps "
                                "need the same file",
                                p->source ? p->source->name : media_quote(plan->input));
}
