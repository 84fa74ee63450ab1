#include "report/report_plot.h"

#include <math.h>

#include "report/report_text.h"

/* Of the drawing, which is stretched to its place. */
#define WIDTH 1000.0
#define HEIGHT 100.0

/* Places with a text of their own under the pointer. */
#define HOVER 60

#define CURVE 256

static const char *const classes[REPORT_SIDES] = {"before", "after"};

typedef struct Plot {
    OutputFile *file;
    const ReportSummary *summary;
    ReportFigure figure;
    double low, high, tick; /* of the scale */
} Plot;

static const ReportSum *sum_of(const Plot *p, int point, int side)
{
    return &p->summary->points[point].sums.of[p->figure][side];
}

static double x_of(const Plot *p, int64_t us)
{
    const ReportSpan *all = &p->summary->all;
    const double length = (double)(all->end_us - all->begin_us);
    return length > 0 ? WIDTH * (double)(us - all->begin_us) / length : 0;
}

static double y_of(const Plot *p, double value)
{
    return HEIGHT * (p->high - value) / (p->high - p->low);
}

/* 1, 2 or 5 times a power of ten, of which about four are `range`. */
static double find_tick(double range)
{
    const double rough = range / 4, power = pow(10, floor(log10(rough)));
    const double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* 0 where nothing is known. */
static int find_scale(Plot *p)
{
    ReportSums both = {0};
    ReportSum *s = &both.of[0][0];
    for (int side = 0; side < REPORT_SIDES; side++) {
        const ReportSum *all = &p->summary->all.sums.of[p->figure][side];
        if (!all->count)
            continue;
        s->least = s->count && s->least < all->least ? s->least : all->least;
        s->most = s->count && s->most > all->most ? s->most : all->most;
        s->count++;
    }
    const double least = report_value(s->least), most = report_value(s->most);
    const double room = fmax(most - least, report_figure_texts[p->figure].room);
    p->tick = find_tick(room);
    p->low = floor(least / p->tick) * p->tick;
    p->high = ceil(fmax(most, least + room) / p->tick) * p->tick;
    return s->count != 0;
}

/* ---- what is drawn ---- */

static void draw_grid(const Plot *p)
{
    output_file_print(p->file, "<path class=\"grid\" d=\"");
    for (double at = p->low; at < p->high + p->tick / 2; at += p->tick)
        output_file_print(p->file, "M0 %.1fH%.0f", y_of(p, at), WIDTH);
    output_file_print(p->file, "\"/>");
}

static void draw_shots(const Plot *p)
{
    const ReportSummary *s = p->summary;
    if (s->shot_count < 2 || s->shots_seen > REPORT_SHOTS_DRAWN)
        return;
    output_file_print(p->file, "<path class=\"mark\" d=\"");
    for (int i = 1; i < s->shot_count; i++)
        output_file_print(p->file, "M%.1f 0V%.0f", x_of(p, s->shots[i].span.begin_us), HEIGHT);
    output_file_print(p->file, "\"/>");
}

static double middle(const Plot *p, int point)
{
    const ReportSpan *span = &p->summary->points[point];
    return x_of(p, (span->begin_us + span->end_us) / 2);
}

/* From the least to the most of each point, as one area for each run of points that are known. */
static void draw_band(const Plot *p, int side)
{
    const int count = p->summary->point_count;
    output_file_print(p->file, "<path class=\"band %s\" d=\"", classes[side]);
    for (int from = 0, to; from < count; from = to + 1) {
        for (to = from; to < count && sum_of(p, to, side)->count; to++)
            output_file_print(p->file, "%c%.1f %.1f", to > from ? 'L' : 'M', middle(p, to),
                              y_of(p, report_value(sum_of(p, to, side)->most)));
        for (int i = to - 1; i >= from; i--)
            output_file_print(p->file, "L%.1f %.1f", middle(p, i),
                              y_of(p, report_value(sum_of(p, i, side)->least)));
        if (to > from)
            output_file_print(p->file, "Z");
    }
    output_file_print(p->file, "\"/>");
}

/* A point alone is as wide as its time. */
static void draw_line(const Plot *p, int side)
{
    const int count = p->summary->point_count;
    int drawn = 0; /* the point before was */
    output_file_print(p->file, "<path class=\"line %s\" d=\"", classes[side]);
    for (int i = 0; i < count; i++) {
        const ReportSum *s = sum_of(p, i, side);
        const ReportSpan *span = &p->summary->points[i];
        const int goes_on = i + 1 < count && sum_of(p, i + 1, side)->count;
        if (s->count && !drawn && !goes_on)
            output_file_print(p->file, "M%.1f %.1fH%.1f", x_of(p, span->begin_us),
                              y_of(p, report_sum_mean(s)), x_of(p, span->end_us));
        else if (s->count)
            output_file_print(p->file, "%c%.1f %.1f", drawn ? 'L' : 'M', middle(p, i),
                              y_of(p, report_sum_mean(s)));
        drawn = s->count != 0;
    }
    output_file_print(p->file, "\"/>");
}

static void print_side(OutputFile *f, const char *name, const ReportSum *s)
{
    if (s->count)
        output_file_print(f, "%s %s", name, report_word(report_sum_mean(s)).text);
}

/* What the pointer is over is told in words. */
static void draw_hover(const Plot *p)
{
    const ReportSummary *s = p->summary;
    const int each = (s->point_count + HOVER - 1) / HOVER;
    for (int i = 0; i < s->point_count; i += each) {
        const int end = i + each < s->point_count ? i + each : s->point_count;
        const double x = x_of(p, s->points[i].begin_us);
        ReportSums sums = {0};
        for (int k = i; k < end; k++)
            report_sum_merge(&sums, &s->points[k].sums);
        const ReportSum *of = sums.of[p->figure];
        output_file_print(p->file,
                          "<rect class=\"hover\" x=\"%.1f\" width=\"%.1f\" height=\"%.0f\"><title>"
                          "%s: ",
                          x, x_of(p, s->points[end - 1].end_us) - x, HEIGHT,
                          report_time(s->points[i].begin_us).text);
        print_side(p->file, "before", &of[REPORT_BEFORE]);
        output_file_print(p->file, "%s", of[0].count && of[1].count ? ", " : "");
        print_side(p->file, p->figure == REPORT_FLICKER ? "" : "after", &of[REPORT_AFTER]);
        output_file_print(p->file, "%s</title></rect>",
                          of[0].count || of[1].count ? "" : "not known");
    }
}

/* ---- around it ---- */

static void print_numbers(const Plot *p)
{
    const int digits = p->tick >= 1 ? 0 : p->tick >= 0.1 ? 1 : p->tick >= 0.01 ? 2 : 3;
    output_file_print(p->file, "<div class=\"y\" aria-hidden=\"true\">");
    for (double at = p->low; at < p->high + p->tick / 2; at += p->tick)
        output_file_print(p->file, "<span style=\"top:%.1f%%\">%.*f</span>",
                          y_of(p, at) / HEIGHT * 100, digits, at + 0.0);
    output_file_print(p->file, "</div>");
}

static void print_times(const Plot *p)
{
    const ReportSpan *all = &p->summary->all;
    output_file_print(p->file,
                      "<div class=\"x\" aria-hidden=\"true\"><span>%s</span><span>%s</span>"
                      "<span>%s</span></div>",
                      report_time(all->begin_us).text,
                      report_time((all->begin_us + all->end_us) / 2).text,
                      report_time(all->end_us).text);
}

static void print_range(OutputFile *f, const char *name, const ReportSum *s)
{
    if (s->count)
        output_file_print(
            f, "%s: mean %s, from %s to %s. ", name, report_word(report_sum_mean(s)).text,
            report_word(report_value(s->least)).text, report_word(report_value(s->most)).text);
}

static void describe(const Plot *p)
{
    const ReportFigureText *t = &report_figure_texts[p->figure];
    const ReportSum *of = p->summary->all.sums.of[p->figure];
    output_file_print(p->file, "<title id=\"plot-%s-title\">%s over time</title>", t->key, t->name);
    output_file_print(p->file, "<desc id=\"plot-%s-text\">", t->key);
    print_range(p->file, "Before", &of[REPORT_BEFORE]);
    print_range(p->file, "After", &of[REPORT_AFTER]);
    output_file_print(p->file, "</desc>");
}

static void print_caption(const Plot *p)
{
    const ReportFigureText *t = &report_figure_texts[p->figure];
    output_file_print(p->file, "<figcaption><h3>%s%s%s</h3>", t->name, *t->unit ? ", " : "",
                      t->unit);
    for (int side = p->figure == REPORT_FLICKER; side < REPORT_SIDES; side++)
        output_file_print(p->file,
                          "<span class=\"key\"><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\">"
                          "<path class=\"line %s\" d=\"M0 5H30\"/></svg> %s</span>",
                          classes[side], classes[side]);
    output_file_print(p->file, "</figcaption>");
}

void report_plot(OutputFile *file, const ReportSummary *summary, ReportFigure figure)
{
    Plot p = {.file = file, .summary = summary, .figure = figure};
    const char *key = report_figure_texts[figure].key;
    output_file_print(file, "<figure class=\"plot\">");
    print_caption(&p);
    if (!find_scale(&p)) {
        output_file_print(file, "<p class=\"soft\">Not known of any frame.</p></figure>\n");
        return;
    }
    output_file_print(file, "<div class=\"frame\">");
    print_numbers(&p);
    output_file_print(file,
                      "<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" "
                      "aria-labelledby=\"plot-%s-title plot-%s-text\">",
                      WIDTH, HEIGHT, key, key);
    describe(&p);
    draw_grid(&p);
    draw_shots(&p);
    for (int side = 0; summary->step > 1 && side < REPORT_SIDES; side++)
        draw_band(&p, side);
    draw_line(&p, REPORT_AFTER);
    draw_line(&p, REPORT_BEFORE); /* it is dashed: both are seen */
    draw_hover(&p);
    output_file_print(file, "</svg>");
    print_times(&p);
    output_file_print(file, "</div></figure>\n");
}

/* ---- a curve ---- */

static void draw_histogram(OutputFile *f, const uint32_t *histogram, uint32_t most,
                           const char *side)
{
    const double each = (double)CURVE / REPORT_HISTOGRAM;
    output_file_print(f, "<path class=\"histogram %s\" d=\"M0 %d", side, CURVE);
    for (int i = 0; i < REPORT_HISTOGRAM; i++)
        output_file_print(f, "L%.0f %.1fH%.0f", i * each,
                          CURVE - CURVE * fmin((double)histogram[i] / most, 1), (i + 1) * each);
    output_file_print(f, "V%dZ\"/>", CURVE);
}

/* A single tone, such as black bars, would leave all others flat. */
static uint32_t find_most(const ReportPicture *p)
{
    uint32_t most = 1, second = 1;
    for (int i = 0; i < 2 * REPORT_HISTOGRAM; i++) {
        const uint32_t here = p->histogram[i / REPORT_HISTOGRAM][i % REPORT_HISTOGRAM];
        if (here > most) {
            second = most;
            most = here;
        } else if (here > second) {
            second = here;
        }
    }
    return second > 2 * (most / 3) || second < 2 ? most : second;
}

void report_plot_curve(OutputFile *f, const ReportPicture *p, int shot)
{
    const uint32_t most = find_most(p);
    output_file_print(f,
                      "<svg class=\"curve\" viewBox=\"0 0 %d %d\" role=\"img\" "
                      "aria-labelledby=\"curve-%d-title curve-%d-text\">"
                      "<title id=\"curve-%d-title\">Curve of shot %d</title>"
                      "<desc id=\"curve-%d-text\">",
                      CURVE, CURVE, shot, shot, shot, shot, shot);
    for (int code = 32; code < REPORT_CURVE; code += 64)
        output_file_print(f, "%s%d becomes %.0f", code > 32 ? ", " : "", code,
                          p->curve[code] / 256.0);
    output_file_print(f, ".</desc>");
    draw_histogram(f, p->histogram[0], most, classes[0]);
    draw_histogram(f, p->histogram[1], most, classes[1]);
    output_file_print(f,
                      "<path class=\"grid\" d=\"M64 0V%d M128 0V%d M192 0V%d M0 64H%d M0 128H%d M0 "
                      "192H%d M0 %dL%d 0\"/><path class=\"line curve-line\" d=\"",
                      CURVE, CURVE, CURVE, CURVE, CURVE, CURVE, CURVE, CURVE);
    for (int i = 0; i < REPORT_CURVE; i++)
        output_file_print(f, "%c%d %.1f", i ? 'L' : 'M', i, CURVE - p->curve[i] / 256.0);
    output_file_print(f, "\"/></svg>");
}
