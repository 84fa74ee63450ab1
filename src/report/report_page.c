#include "report/report_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/report_plot.h"
#include "report/report_text.h"

/* What is no change in the digits that are shown. */
#define LEAST_CHANGE 0.005

/* Light, and dark where that is preferred; on paper always light. */
static const char *const style[] = {
    ":root{color-scheme:light;--paper:#fff;--ink:#1b1e22;--soft:#59616a;--rule:#d8dde2;"
    "--card:#f5f6f8;--before:#b3470b;--after:#1659b5}\n"
    "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--paper:#14161a;"
    "--ink:#e6e8eb;--soft:#a0a8b1;--rule:#343a42;--card:#1d2026;--before:#f0a060;"
    "--after:#7db2fb}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:72rem;background:var(--paper);"
    "color:var(--ink);font:1rem/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}\n"
    "h2{font-size:1.3rem;margin:2.5rem 0 .75rem;padding-top:1rem;border-top:1px solid "
    "var(--rule)}\n"
    "h3{font-size:1rem;margin:0}\np{margin:.5rem 0;max-width:44rem}\n"
    ".soft,small{color:var(--soft)}small{font-size:.8rem}\n"
    "code{overflow-wrap:anywhere}a{color:var(--after)}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:1rem 0;"
    "list-style:none}\n",
    "dl.run{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:1rem 0}"
    "dl.run div{min-width:4rem}dl.run dt{color:var(--soft);font-size:.8rem}dl.run dd{margin:0}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--soft);padding-bottom:.5rem}\n"
    "th,td{padding:.35rem .6rem;border-bottom:1px solid var(--rule);text-align:right;"
    "vertical-align:top}\n"
    "th:first-child{padding-left:0;text-align:left}th{font-weight:600}\n"
    "td small{display:block;white-space:nowrap}\n"
    ".shots{font-size:.8rem}.shots th,.shots td{white-space:nowrap;padding:.3rem .45rem}.shots "
    "thead th{white-space:normal;vertical-align:bottom}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));"
    "gap:1.5rem}\n"
    "figure{margin:0}\n"
    ".plot figcaption{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;"
    "margin-bottom:.6rem}\n"
    ".plot h3{margin-right:auto}\n"
    ".key{font-size:.85rem;color:var(--soft)}.key svg{width:1.6rem;height:.6rem}\n"
    ".frame{display:grid;grid-template-columns:2.6rem 1fr;gap:0 .4rem;font-size:.75rem;"
    "color:var(--soft)}\n"
    ".frame>svg{width:100%;height:9rem;display:block;overflow:visible}\n"
    ".y{position:relative}.y span{position:absolute;right:0;transform:translateY(-50%)}\n"
    ".x{grid-column:2;display:flex;justify-content:space-between;padding-top:.5rem}\n",
    "svg path{fill:none;vector-effect:non-scaling-stroke}\n"
    ".grid{stroke:var(--rule);stroke-width:1}\n"
    ".mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:1 3}\n"
    ".line{stroke-width:2;stroke-linejoin:round}\n"
    ".line.before{stroke:var(--before);stroke-dasharray:5 3}.line.after{stroke:var(--after)}\n"
    ".curve-line{stroke:var(--ink)}\n"
    ".band{opacity:.2}.band.before{fill:var(--before)}.band.after{fill:var(--after)}\n"
    ".histogram{opacity:.35}.histogram.before{fill:var(--before)}"
    ".histogram.after{fill:var(--after)}\n"
    ".hover{fill:transparent}.hover:hover{fill:var(--soft);opacity:.15}\n"
    "article{margin:0 0 2rem;padding:1rem;background:var(--card);border-radius:.5rem}\n"
    "article p{margin:.25rem 0 "
    ".75rem;max-width:none}.decided::first-letter{text-transform:uppercase}\n"
    ".look{display:grid;gap:1rem;grid-template-columns:1fr}\n"
    ".look img{display:block;width:auto;height:auto;max-width:100%;max-height:26rem}\n"
    ".look figcaption{font-size:.85rem;color:var(--soft);padding-top:.25rem}\n"
    ".look .curve{display:block;width:100%;max-width:16rem;border:1px solid var(--rule)}\n"
    "@media (min-width:44rem){.look{grid-template-columns:1fr 1fr minmax(9rem,13rem)}}\n"
    "dl.words{columns:2 20rem;column-gap:2.5rem}dl.words "
    "div{break-inside:avoid;padding-bottom:.75rem}"
    "dl.words dt{font-weight:600}dl.words dd{margin:0}\n"
    "@media (max-width:28rem){th,td{padding:.35rem .3rem}}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}nav{display:none}"
    "h2,h3,h2+p{break-after:avoid}article,figure,tr{break-inside:avoid}"
    "article{padding:.5rem 0;margin:0 0 1rem}.scroll{overflow:visible}"
    ".shots{font-size:7.5pt}.shots th,.shots td{padding:.15rem .3rem}"
    ".plots{grid-template-columns:1fr 1fr}.frame>svg{height:6.5rem}"
    ".look{grid-template-columns:1fr 1fr 8rem}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"};

static void print_head(OutputFile *f, const ReportAbout *about)
{
    output_file_print(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width,"
                         "initial-scale=1\">\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                         "'none'; img-src data:; style-src 'unsafe-inline'\">\n<title>");
    report_text_html(f, about->input);
    output_file_print(f, ": report of lumeq</title>\n<style>\n");
    for (size_t i = 0; i < sizeof(style) / sizeof(style[0]); i++)
        output_file_print(f, "%s", style[i]);
    output_file_print(f, "</style>\n</head>\n<body>\n");
}

/* ---- the run ---- */

static void print_fact(OutputFile *f, const char *name, const char *text)
{
    output_file_print(f, "<div><dt>%s</dt><dd>", name);
    report_text_html(f, text);
    output_file_print(f, "</dd></div>\n");
}

static void print_options(OutputFile *f, const ReportAbout *about)
{
    output_file_print(f, "<div><dt>Settings</dt><dd>");
    for (int i = 0; i < about->option_count; i++) {
        output_file_print(f, "%s<code>", i ? " " : "");
        report_text_html(f, about->options[i]);
        output_file_print(f, "</code>");
    }
    output_file_print(f, "%s</dd></div>\n", about->option_count ? "" : "the defaults");
}

static void print_run(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    char size[48], depth[24];
    snprintf(size, sizeof(size), "%d \xC3\x97 %d", s->width, s->height);
    snprintf(depth, sizeof(depth), "%d bits", s->depth);
    output_file_print(f, "<header>\n<h1>");
    report_text_html(f, about->input);
    output_file_print(f, "</h1>\n<p class=\"soft\">What lumeq did to this video%s.</p>\n",
                      about->partial ? ", until it was interrupted" : "");
    output_file_print(f, "<dl class=\"run\">\n");
    print_fact(f, "Length", report_time(s->all.end_us - s->all.begin_us).text);
    print_fact(f, "Frames", report_count(s->all.frames).text);
    print_fact(f, "Picture", size);
    print_fact(f, "Depth", depth);
    print_fact(f, "Cuts", report_count(s->cuts).text);
    print_fact(f, "Shots", report_count(s->shots_seen).text);
    print_fact(f, "Written to", about->output ? about->output : "nothing (--null)");
    print_options(f, about);
    output_file_print(f, "</dl>\n<nav aria-label=\"On this page\"><ul>"
                         "<li><a href=\"#figures\">Figures</a></li>"
                         "<li><a href=\"#time\">Over time</a></li>"
                         "<li><a href=\"#shots\">Shots</a></li>"
                         "<li><a href=\"#words\">What is measured</a></li></ul></nav>\n</header>\n"
                         "<main>\n");
}

/* ---- figures ---- */

static void print_sum(OutputFile *f, const ReportSum *s)
{
    output_file_print(f, "<td>%s", report_word(report_sum_mean(s)).text);
    if (s->count)
        output_file_print(f, "<small>%s\xE2\x80\x93%s</small>",
                          report_word(report_value(s->least)).text,
                          report_word(report_value(s->most)).text);
    output_file_print(f, "</td>");
}

static void print_row(OutputFile *f, const ReportSums *sums, int figure)
{
    const ReportFigureText *t = &report_figure_texts[figure];
    const ReportSum *of = sums->of[figure];
    double change = report_sum_mean(&of[REPORT_AFTER]) - report_sum_mean(&of[REPORT_BEFORE]);
    if (fabs(change) < LEAST_CHANGE)
        change = 0;
    output_file_print(f, "<tr><th scope=\"row\">%s%s%s%s</th>", t->name, *t->unit ? " <small>" : "",
                      t->unit, *t->unit ? "</small>" : "");
    print_sum(f, &of[REPORT_BEFORE]);
    print_sum(f, &of[REPORT_AFTER]);
    output_file_print(f, "<td>%s%s</td></tr>\n", change > 0 ? "+" : "", report_word(change).text);
}

static void print_figures(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"figures\">\n<h2 id=\"figures\">Figures</h2>\n"
                         "<div class=\"scroll\"><table>\n<caption>Means over all frames, and below "
                         "them the least and the most of a frame.</caption>\n"
                         "<thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">Before</th>"
                         "<th scope=\"col\">After</th><th scope=\"col\">Change</th></tr></thead>\n"
                         "<tbody>\n");
    for (int i = 0; i < REPORT_FIGURES; i++)
        print_row(f, &s->all.sums, i);
    output_file_print(f, "</tbody></table></div>\n</section>\n");
}

static void print_plots(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"time\">\n<h2 id=\"time\">Over time</h2>\n"
                         "<p class=\"soft\">");
    if (s->shots_seen > 1 && s->shots_seen <= REPORT_SHOTS_DRAWN)
        output_file_print(f, "Dotted lines are where shots begin. ");
    if (s->step > 1)
        output_file_print(f,
                          "Each point is the mean of %" PRId64 " frames; the areas go from their "
                          "least to their most.",
                          s->step);
    output_file_print(f, "</p>\n<div class=\"plots\">\n");
    for (int i = 0; i < REPORT_FIGURES; i++)
        report_plot(f, s, (ReportFigure)i);
    output_file_print(f, "</div>\n</section>\n");
}

/* ---- shots ---- */

static void print_pair(OutputFile *f, const ReportSum of[REPORT_SIDES])
{
    output_file_print(f, "%s \xE2\x86\x92 %s", report_word(report_sum_mean(&of[0])).text,
                      report_word(report_sum_mean(&of[1])).text);
}

/* Whoever does not see it is told how light it is, and how far apart its tones. */
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
    report_plot_curve(f, shot->picture, number);
    output_file_print(f,
                      "<figcaption>Its curve, over the histograms</figcaption></figure>\n</div>\n"
                      "</article>\n");
}

static void print_shot_row(OutputFile *f, const ReportSpan *span, int number)
{
    output_file_print(f, "<tr><th scope=\"row\">%d</th><td>%s</td><td>%s</td>", number,
                      report_time(span->begin_us).text, report_count(span->frames).text);
    for (int i = 0; i < REPORT_FIGURES; i++) {
        output_file_print(f, "<td>");
        if (i == REPORT_FLICKER)
            output_file_print(f, "%s",
                              report_word(report_sum_mean(&span->sums.of[i][REPORT_AFTER])).text);
        else
            print_pair(f, span->sums.of[i]);
        output_file_print(f, "</td>");
    }
    output_file_print(f, "</tr>\n");
}

static void print_shot_table(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<div class=\"scroll\" role=\"region\" aria-labelledby=\"shots-table\" "
                         "tabindex=\"0\"><table class=\"shots\">\n"
                         "<caption id=\"shots-table\">All shots: means over their frames, before "
                         "\xE2\x86\x92 after.</caption>\n<thead><tr><th scope=\"col\">Shot</th>"
                         "<th scope=\"col\">From</th><th scope=\"col\">Frames</th>");
    for (int i = 0; i < REPORT_FIGURES; i++)
        output_file_print(f, "<th scope=\"col\">%s%s%s</th>", report_figure_texts[i].name,
                          *report_figure_texts[i].unit ? ", " : "", report_figure_texts[i].unit);
    output_file_print(f, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < s->shot_count; i++)
        print_shot_row(f, &s->shots[i].span, i + 1);
    output_file_print(f, "</tbody></table></div>\n");
}

static void print_shots(OutputFile *f, const ReportSummary *s)
{
    output_file_print(f, "<section aria-labelledby=\"shots\">\n<h2 id=\"shots\">Shots</h2>\n");
    if (s->shots_seen > s->shot_count)
        output_file_print(f, "<p>The first %s of %s shots.</p>\n", report_count(s->shot_count).text,
                          report_count(s->shots_seen).text);
    if (s->pictured > 1)
        output_file_print(f, "<p>One of %" PRId64 " shots has pictures.</p>\n", s->pictured);
    for (int i = 0; i < s->shot_count; i++)
        if (s->shots[i].picture)
            print_article(f, &s->shots[i], i + 1);
    print_shot_table(f, s);
    output_file_print(f, "</section>\n");
}

/* ---- the end ---- */

static void print_meanings(OutputFile *f)
{
    output_file_print(f, "<section aria-labelledby=\"words\">\n<h2 id=\"words\">What is "
                         "measured</h2>\n<p>Luma, frame by frame, without black bars: before, of "
                         "what was decoded; after, of what was made of it, before it was encoded. "
                         "The tones after are those that the curve makes; local contrast and noise "
                         "are measured in the pixels.</p>\n<dl class=\"words\">\n");
    for (int i = 0; i < REPORT_FIGURES; i++)
        output_file_print(f, "<div><dt>%s</dt><dd>%s</dd></div>\n", report_figure_texts[i].name,
                          report_figure_texts[i].meaning);
    output_file_print(f,
                      "<div><dt>Curve</dt><dd>From the left, tones before; upwards, what became of "
                      "them. The straight line changes nothing. Behind it, the histograms before "
                      "and after.</dd></div>\n</dl>\n</section>\n");
}

void report_page(OutputFile *f, const ReportSummary *s, const ReportAbout *about)
{
    print_head(f, about);
    print_run(f, s, about);
    print_figures(f, s);
    print_plots(f, s);
    print_shots(f, s);
    print_meanings(f);
    output_file_print(f, "</main>\n<footer><p class=\"soft\">Made by ");
    report_text_html(f, about->program);
    output_file_print(f, ".</p></footer>\n</body>\n</html>\n");
}
