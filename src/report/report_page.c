#include "report/report_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/report_text.h"

/* If there are more shots than this, plots do not mark them. */
#define REPORT_SHOTS_DRAWN 300

/* Size of a plot in SVG units; the page stretches it. */
#define WIDTH 1000.0
#define HEIGHT 100.0

#define CURVE 256

extern const char report_page_css[]; /* report_page.css, embedded */

static const char *const classes[REPORT_SIDES] = {"before", "after"};

typedef struct Plot {
    OutputFile *file;
    const ReportSummary *summary;
    ReportFigure figure;
    double low, high, tick; /* range of the scale, and distance of its ticks */
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

/* Chooses the scale. Returns 0 if no value is known. */
static int find_scale(Plot *p)
{
    ReportSum both = {0};
    for (int side = 0; side < REPORT_SIDES; side++)
        report_sum_take(&both, &p->summary->all.sums.of[p->figure][side]);
    const double least = report_value(both.least), most = report_value(both.most);
    const double room = fmax(most - least, report_figure_texts[p->figure].room);
    /* The tick is 1, 2 or 5 times a power of ten; about four ticks fill the range. */
    const double rough = room / 4, power = pow(10, floor(log10(rough)));
    const double steps[] = {1, 2, 5, 10};
    int step = 0;
    while (step < 3 && rough > power * steps[step])
        step++;
    p->tick = power * steps[step];
    p->low = floor(least / p->tick) * p->tick;
    p->high = ceil(fmax(most, least + room) / p->tick) * p->tick;
    return both.count != 0;
}

/* The x of a point's middle. */
static double middle(const Plot *p, int point)
{
    const ReportSpan *span = &p->summary->points[point];
    return x_of(p, (span->begin_us + span->end_us) / 2);
}

/* Fills the area between the points' minima and maxima, with gaps at unknown values. */
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

/* Draws the means. A point between unknown points becomes a line as wide as its duration. */
static void draw_line(const Plot *p, int side)
{
    const int count = p->summary->point_count;
    int drawn = 0; /* the previous point was drawn */
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

static void print_range(OutputFile *f, const char *name, const ReportSum *s)
{
    if (s->count)
        output_file_print(
            f, "%s: mean %s, from %s to %s. ", name, report_word(report_sum_mean(s)).text,
            report_word(report_value(s->least)).text, report_word(report_value(s->most)).text);
}

static void print_plot(OutputFile *file, const ReportSummary *summary, ReportFigure figure)
{
    Plot p = {.file = file, .summary = summary, .figure = figure};
    const ReportFigureText *t = &report_figure_texts[figure];
    const char *key = t->key;
    output_file_print(file, "<figure class=\"plot\"><figcaption><h3>%s%s%s</h3>", t->name,
                      *t->unit ? ", " : "", t->unit);
    for (int side = figure == REPORT_FLICKER; side < REPORT_SIDES; side++)
        output_file_print(file,
                          "<span class=\"key\"><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\">"
                          "<path class=\"line %s\" d=\"M0 5H30\"/></svg> %s</span>",
                          classes[side], classes[side]);
    output_file_print(file, "</figcaption>");
    if (!find_scale(&p)) {
        output_file_print(file, "<p class=\"soft\">Unknown for all frames.</p></figure>\n");
        return;
    }
    const ReportSpan *all = &summary->all;
    const int digits = (int)fmin(fmax(ceil(-log10(p.tick)), 0), 3);
    output_file_print(file, "<div class=\"frame\"><div class=\"y\" aria-hidden=\"true\">");
    for (double at = p.low; at < p.high + p.tick / 2; at += p.tick)
        output_file_print(file, "<span style=\"top:%.1f%%\">%.*f</span>",
                          y_of(&p, at) / HEIGHT * 100, digits, at + 0.0);
    output_file_print(file, "</div>");
    output_file_print(file,
                      "<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" "
                      "aria-labelledby=\"plot-%s-title plot-%s-text\">",
                      WIDTH, HEIGHT, key, key);
    output_file_print(file, "<title id=\"plot-%s-title\">%s over time</title>", key, t->name);
    output_file_print(file, "<desc id=\"plot-%s-text\">", key);
    print_range(file, "Before", &summary->all.sums.of[figure][REPORT_BEFORE]);
    print_range(file, "After", &summary->all.sums.of[figure][REPORT_AFTER]);
    output_file_print(file, "</desc>");
    output_file_print(file, "<path class=\"grid\" d=\"");
    for (double at = p.low; at < p.high + p.tick / 2; at += p.tick)
        output_file_print(file, "M0 %.1fH%.0f", y_of(&p, at), WIDTH);
    output_file_print(file, "\"/>");
    if (summary->shot_count > 1 && summary->shots_seen <= REPORT_SHOTS_DRAWN) {
        output_file_print(file, "<path class=\"mark\" d=\"");
        for (int i = 1; i < summary->shot_count; i++)
            output_file_print(file, "M%.1f 0V%.0f", x_of(&p, summary->shots[i].span.begin_us),
                              HEIGHT);
        output_file_print(file, "\"/>");
    }
    for (int side = 0; summary->step > 1 && side < REPORT_SIDES; side++)
        draw_band(&p, side);
    draw_line(&p, REPORT_AFTER);
    draw_line(&p, REPORT_BEFORE); /* dashed, so the other line stays visible */
    output_file_print(file,
                      "</svg><div class=\"x\" aria-hidden=\"true\"><span>%s</span><span>%s</span>"
                      "<span>%s</span></div></div></figure>\n",
                      report_time(all->begin_us).text,
                      report_time((all->begin_us + all->end_us) / 2).text,
                      report_time(all->end_us).text);
}

static void print_curve(OutputFile *f, const ReportPicture *p, int shot)
{
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
    output_file_print(f,
                      "<path class=\"grid\" d=\"M64 0V%d M128 0V%d M192 0V%d M0 64H%d M0 128H%d M0 "
                      "192H%d M0 %dL%d 0\"/><path class=\"line curve-line\" d=\"",
                      CURVE, CURVE, CURVE, CURVE, CURVE, CURVE, CURVE, CURVE);
    for (int i = 0; i < REPORT_CURVE; i++)
        output_file_print(f, "%c%d %.1f", i ? 'L' : 'M', i, CURVE - p->curve[i] / 256.0);
    output_file_print(f, "\"/></svg>");
}

/* Smaller changes do not show in the printed digits. */
#define LEAST_CHANGE 0.005

static void print_head(OutputFile *f, const ReportAbout *about)
{
    output_file_print(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width,"
                         "initial-scale=1\">\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                         "'none'; img-src data:; style-src 'unsafe-inline'\">\n<title>");
    report_text_html(f, about->input);
    output_file_print(f, ": report of lumeq</title>\n<style>\n%s</style>\n</head>\n<body>\n",
                      report_page_css);
}

static void print_fact(OutputFile *f, const char *name, const char *text)
{
    output_file_print(f, "<div><dt>%s</dt><dd>", name);
    report_text_html(f, text);
    output_file_print(f, "</dd></div>\n");
}

static void print_run(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    char size[48], depth[24];
    snprintf(size, sizeof(size), "%d \xC3\x97 %d", s->width, s->height);
    snprintf(depth, sizeof(depth), "%d bits", s->depth);
    output_file_print(f, "<header>\n<h1>");
    report_text_html(f, about->input);
    output_file_print(f, "</h1>\n<p class=\"soft\">This video before and after lumeq%s.</p>\n",
                      about->partial ? ", until it was interrupted" : "");
    output_file_print(f, "<dl class=\"run\">\n");
    print_fact(f, "Length", report_time(s->all.end_us - s->all.begin_us).text);
    print_fact(f, "Frames", report_count(s->all.frames).text);
    print_fact(f, "Picture", size);
    print_fact(f, "Depth", depth);
    print_fact(f, "Cuts", report_count(s->cuts).text);
    print_fact(f, "Shots", report_count(s->shots_seen).text);
    print_fact(f, "Written to", about->output ? about->output : "nothing (--null)");
    output_file_print(f, "<div><dt>Settings</dt><dd>");
    for (int i = 0; i < about->option_count; i++) {
        output_file_print(f, "%s<code>", i ? " " : "");
        report_text_html(f, about->options[i]);
        output_file_print(f, "</code>");
    }
    output_file_print(f, "%s</dd></div>\n", about->option_count ? "" : "the defaults");
    output_file_print(f, "</dl>\n<nav aria-label=\"On this page\"><ul>"
                         "<li><a href=\"#figures\">Figures</a></li>"
                         "<li><a href=\"#time\">Over time</a></li>"
                         "<li><a href=\"#shots\">Shots</a></li>"
                         "<li><a href=\"#words\">What is measured</a></li></ul></nav>\n</header>\n"
                         "<main>\n");
}

static void print_figures(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"figures\">\n<h2 id=\"figures\">Figures</h2>\n"
                         "<div class=\"scroll\"><table>\n<caption>Mean over all frames; below it, "
                         "their minimum and maximum.</caption>\n"
                         "<thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">Before</th>"
                         "<th scope=\"col\">After</th><th scope=\"col\">Change</th></tr></thead>\n"
                         "<tbody>\n");
    for (int i = 0; i < REPORT_FIGURES; i++) {
        const ReportFigureText *t = &report_figure_texts[i];
        const ReportSum *of = s->all.sums.of[i];
        double change = report_sum_mean(&of[REPORT_AFTER]) - report_sum_mean(&of[REPORT_BEFORE]);
        if (fabs(change) < LEAST_CHANGE)
            change = 0;
        output_file_print(f, "<tr><th scope=\"row\">%s%s%s%s</th>", t->name,
                          *t->unit ? " <small>" : "", t->unit, *t->unit ? "</small>" : "");
        for (int side = 0; side < REPORT_SIDES; side++) {
            output_file_print(f, "<td>%s", report_word(report_sum_mean(&of[side])).text);
            if (of[side].count)
                output_file_print(f, "<small>%s\xE2\x80\x93%s</small>",
                                  report_word(report_value(of[side].least)).text,
                                  report_word(report_value(of[side].most)).text);
            output_file_print(f, "</td>");
        }
        output_file_print(f, "<td>%s%s</td></tr>\n", change > 0 ? "+" : "",
                          report_word(change).text);
    }
    output_file_print(f, "</tbody></table></div>\n</section>\n");
}

static void print_plots(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"time\">\n<h2 id=\"time\">Over time</h2>\n"
                         "<p class=\"soft\">");
    if (s->shots_seen > 1 && s->shots_seen <= REPORT_SHOTS_DRAWN)
        output_file_print(f, "Dotted lines mark the start of shots. ");
    if (s->step > 1)
        output_file_print(f,
                          "Each point is the mean of %" PRId64
                          " frames; areas show their minimum and "
                          "maximum.",
                          s->step);
    output_file_print(f, "</p>\n<div class=\"plots\">\n");
    for (int i = 0; i < REPORT_FIGURES; i++)
        print_plot(f, s, (ReportFigure)i);
    output_file_print(f, "</div>\n</section>\n");
}

static void print_pair(OutputFile *f, const ReportSum of[REPORT_SIDES])
{
    output_file_print(f, "%s \xE2\x86\x92 %s", report_word(report_sum_mean(&of[0])).text,
                      report_word(report_sum_mean(&of[1])).text);
}

static void print_picture(OutputFile *f, const ReportShot *shot, int side, int number)
{
    static const char *const names[REPORT_SIDES] = {"Before", "After"};
    const ReportPicture *p = shot->picture;
    output_file_print(
        f,
        "<figure><img src=\"data:image/jpeg;base64,%s\" width=\"%d\" height=\"%d\" "
        "alt=\"Shot %d %s: brightness %s, contrast %s\"><figcaption>%s, at %s</figcaption>"
        "</figure>\n",
        p->jpeg[side], p->width, p->height, number, side ? "after lumeq" : "as it was",
        report_word(report_sum_mean(&shot->span.sums.of[REPORT_MEAN][side])).text,
        report_word(report_sum_mean(&shot->span.sums.of[REPORT_CONTRAST][side])).text, names[side],
        report_time(p->time_us).text);
}

static void print_article(OutputFile *f, const ReportShot *shot, int number)
{
    const ReportSpan *span = &shot->span;
    output_file_print(f,
                      "<article aria-labelledby=\"shot-%d\">\n<h3 id=\"shot-%d\">Shot %d: %s to "
                      "%s</h3>\n<p class=\"decided\">",
                      number, number, number, report_time(span->begin_us).text,
                      report_time(span->end_us).text);
    report_text_html(f, shot->picture->words);
    output_file_print(f, ". <span class=\"soft\">Brightness ");
    print_pair(f, span->sums.of[REPORT_MEAN]);
    output_file_print(f, ", contrast ");
    print_pair(f, span->sums.of[REPORT_CONTRAST]);
    output_file_print(f, ", %s frame%s.</span></p>\n<div class=\"look\">\n",
                      report_count(span->frames).text, span->frames == 1 ? "" : "s");
    print_picture(f, shot, REPORT_BEFORE, number);
    print_picture(f, shot, REPORT_AFTER, number);
    output_file_print(f, "<figure>");
    print_curve(f, shot->picture, number);
    output_file_print(f, "<figcaption>Curve</figcaption></figure>\n</div>\n"
                         "</article>\n");
}

static void print_shots(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"shots\">\n<h2 id=\"shots\">Shots</h2>\n");
    if (s->shots_seen > s->shot_count)
        output_file_print(f, "<p>The first %s of %s shots.</p>\n", report_count(s->shot_count).text,
                          report_count(s->shots_seen).text);
    if (s->pictured > 1)
        output_file_print(f, "<p>One in %" PRId64 " shots has pictures.</p>\n", s->pictured);
    for (int i = 0; i < s->shot_count; i++)
        if (s->shots[i].picture)
            print_article(f, &s->shots[i], i + 1);
    output_file_print(f, "<div class=\"scroll\" role=\"region\" aria-labelledby=\"shots-table\" "
                         "tabindex=\"0\"><table class=\"shots\">\n"
                         "<caption id=\"shots-table\">Shots: mean over their frames, before "
                         "\xE2\x86\x92 after.</caption>\n<thead><tr><th scope=\"col\">Shot</th>"
                         "<th scope=\"col\">From</th><th scope=\"col\">Frames</th>");
    for (int i = 0; i < REPORT_FIGURES; i++)
        output_file_print(f, "<th scope=\"col\">%s%s%s</th>", report_figure_texts[i].name,
                          *report_figure_texts[i].unit ? ", " : "", report_figure_texts[i].unit);
    output_file_print(f, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < s->shot_count; i++) {
        const ReportSpan *span = &s->shots[i].span;
        output_file_print(f, "<tr><th scope=\"row\">%d</th><td>%s</td><td>%s</td>", i + 1,
                          report_time(span->begin_us).text, report_count(span->frames).text);
        for (int k = 0; k < REPORT_FIGURES; k++) {
            const ReportSum *of = span->sums.of[k];
            output_file_print(f, "<td>");
            if (k == REPORT_FLICKER)
                output_file_print(f, "%s", report_word(report_sum_mean(&of[REPORT_AFTER])).text);
            else
                print_pair(f, of);
            output_file_print(f, "</td>");
        }
        output_file_print(f, "</tr>\n");
    }
    output_file_print(f, "</tbody></table></div>\n</section>\n");
}

void report_page(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    print_head(f, about);
    print_run(f, s, about);
    print_figures(f, s);
    print_plots(f, s);
    print_shots(f, s);
    output_file_print(
        f, "<section aria-labelledby=\"words\">\n<h2 id=\"words\">What is "
           "measured</h2>\n<p>Luma of each frame without black bars. Before: as decoded. After: as "
           "equalized, not yet encoded: local contrast and noise are measured in the pixels; "
           "other figures are computed with the curve.</p>\n<dl class=\"words\">\n");
    for (int i = 0; i < REPORT_FIGURES; i++)
        output_file_print(f, "<div><dt>%s</dt><dd>%s</dd></div>\n", report_figure_texts[i].name,
                          report_figure_texts[i].meaning);
    output_file_print(
        f, "<div><dt>Curve</dt><dd>Input tones from left to right, output tones upwards. On the "
           "diagonal, nothing changes.</dd></div>\n</dl>\n</section>\n");
    output_file_print(f, "</main>\n<footer><p class=\"soft\">Made by ");
    report_text_html(f, about->program);
    output_file_print(f, ".</p></footer>\n</body>\n</html>\n");
}
