#include "report/report_summary.h"

#include <inttypes.h>

#include "report/report_text.h"

#define VERSION 1

/* Decimals of figures, as in --stats. */
#define DIGITS 4

static const char *const sides[REPORT_SIDES] = {"before", "after"};

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

static void print_sum(OutputFile *f, const ReportSum *s)
{
    output_file_print(f, "{\"mean\":");
    report_number_json(f, report_sum_mean(s), DIGITS);
    if (s->count)
        output_file_print(f, ",\"least\":%.*f,\"most\":%.*f", DIGITS, report_value(s->least),
                          DIGITS, report_value(s->most));
    else
        output_file_print(f, ",\"least\":null,\"most\":null");
    output_file_print(f, ",\"frames\":%" PRId64 "}", s->count);
}

/* Excess flicker has no "before". */
static int first_side(int figure)
{
    return figure == REPORT_FLICKER ? REPORT_AFTER : REPORT_BEFORE;
}

static void print_figures(OutputFile *f, const ReportSums *sums)
{
    output_file_print(f, "{");
    for (int i = 0; i < REPORT_FIGURES; i++) {
        output_file_print(f, "%s\"%s\":{", i ? "," : "", report_figure_texts[i].key);
        for (int side = first_side(i); side < REPORT_SIDES; side++) {
            output_file_print(f, "%s\"%s\":", side > first_side(i) ? "," : "", sides[side]);
            print_sum(f, &sums->of[i][side]);
        }
        output_file_print(f, "}");
    }
    output_file_print(f, "}");
}

static void print_head(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    output_file_print(f, "{\"report\":%d,\"program\":", VERSION);
    report_text_json(f, about->program);
    output_file_print(f, ",\"input\":");
    report_text_json(f, about->input);
    output_file_print(f, ",\"output\":");
    if (about->output)
        report_text_json(f, about->output);
    else
        output_file_print(f, "null");
    output_file_print(f, ",\"options\":[");
    for (int i = 0; i < about->option_count; i++) {
        output_file_print(f, "%s", i ? "," : "");
        report_text_json(f, about->options[i]);
    }
    output_file_print(f, "],\"state\":\"%s\"", about->partial ? "interrupted" : "done");
    output_file_print(f,
                      ",\n\"width\":%d,\"height\":%d,\"depth\":%d,\"frames\":%" PRId64
                      ",\"begin\":%.6f,\"end\":%.6f,\"cuts\":%" PRId64,
                      s->width, s->height, s->depth, s->all.frames, seconds(s->all.begin_us),
                      seconds(s->all.end_us), s->cuts);
    output_file_print(f, ",\n\"figures\":");
    print_figures(f, &s->all.sums);
}

typedef double (*Pick)(const ReportSum *);

static double least(const ReportSum *s)
{
    return s->count ? report_value(s->least) : report_sum_mean(s);
}

static double most(const ReportSum *s)
{
    return s->count ? report_value(s->most) : report_sum_mean(s);
}

static void print_row(OutputFile *f, const ReportSummary *s, int figure, int side, Pick pick)
{
    output_file_print(f, "[");
    for (int i = 0; i < s->point_count; i++) {
        output_file_print(f, "%s", i ? "," : "");
        report_number_json(f, pick(&s->points[i].sums.of[figure][side]), DIGITS);
    }
    output_file_print(f, "]");
}

void report_json(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    print_head(f, s, about);
    output_file_print(f, ",\n\"plots\":{\"frames_per_point\":%" PRId64 ",\"time\":[", s->step);
    for (int i = 0; i < s->point_count; i++)
        output_file_print(f, "%s%.6f", i ? "," : "", seconds(s->points[i].begin_us));
    output_file_print(f, "]");
    for (int i = 0; i < REPORT_FIGURES; i++) {
        output_file_print(f, ",\n\"%s\":{", report_figure_texts[i].key);
        for (int side = first_side(i); side < REPORT_SIDES; side++) {
            output_file_print(f, "%s\"%s\":{\"mean\":", side > first_side(i) ? "," : "",
                              sides[side]);
            print_row(f, s, i, side, report_sum_mean);
            output_file_print(f, ",\"least\":");
            print_row(f, s, i, side, least);
            output_file_print(f, ",\"most\":");
            print_row(f, s, i, side, most);
            output_file_print(f, "}");
        }
        output_file_print(f, "}");
    }
    output_file_print(f, "},\n\"shots\":[");
    for (int i = 0; i < s->shot_count; i++) {
        const ReportSpan *span = &s->shots[i].span;
        const ReportPicture *p = s->shots[i].picture;
        output_file_print(f, "%s\n{\"first\":%" PRId64 ",\"frames\":%" PRId64, i ? "," : "",
                          span->first, span->frames);
        output_file_print(f, ",\"begin\":%.6f,\"end\":%.6f,\"figures\":", seconds(span->begin_us),
                          seconds(span->end_us));
        print_figures(f, &span->sums);
        output_file_print(f, ",\"picture\":");
        if (p) {
            output_file_print(f, "{\"frame\":%" PRId64 ",\"time\":%.6f,\"words\":", p->number,
                              seconds(p->time_us));
            report_text_json(f, p->words);
            output_file_print(f, ",\"curve\":[");
            for (int k = 0; k < REPORT_CURVE; k++)
                output_file_print(f, "%s%.2f", k ? "," : "", p->curve[k] / 256.0);
            output_file_print(f, "]}}");
        } else {
            output_file_print(f, "null}");
        }
    }
    output_file_print(f, "]}\n");
}
