#include "app/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/terminal.h"
#include "run/run.h"

#define BAR_INTERVAL 0.1 /* seconds between updates */
#define JSON_INTERVAL 0.5
#define BAR_WIDTH 24    /* columns */
#define PAINT_BYTES 32  /* for the escape sequences of the bar's colours */
#define MIN_BAR_WIDTH 8 /* with less room, no bar is shown */
#define TEXT_COLUMNS 62 /* of the text beside the bar */

static double now(void)
{
    return run_now_us() * 1e-6;
}

double progress_elapsed(const Progress *p)
{
    return now() - p->started;
}

void progress_start(Progress *p)
{
    if (p->style == PROGRESS_AUTO)
        p->style = say_on_terminal() ? PROGRESS_BAR : PROGRESS_NONE;
    p->bytes = -1;
    p->shown = now();
    p->started = p->started > 0 ? p->started : p->shown;
}

/* Frames that have left the encoder. */
static int64_t frames_done(const Progress *p)
{
    return p->frame > p->held ? p->frame - p->held : 0;
}

static double time_done(const Progress *p)
{
    return p->frame > 0 ? p->time * (double)frames_done(p) / (double)p->frame : p->time;
}

/* Finished fraction, or NAN if the length is unknown. */
static double fraction(const Progress *p)
{
    double done = NAN;
    if (p->has_share)
        done = p->finished;
    else if (p->frames > 0)
        done = (double)frames_done(p) / (double)p->frames;
    else if (p->duration > 0)
        done = time_done(p) / p->duration;
    return done > 1 ? 1 : done;
}

static double fps(const Progress *p)
{
    return progress_elapsed(p) > 0 ? (double)frames_done(p) / progress_elapsed(p) : NAN;
}

static double speed(const Progress *p)
{
    return progress_elapsed(p) > 0 ? time_done(p) / progress_elapsed(p) : NAN;
}

static double eta(const Progress *p)
{
    const double done = fraction(p);
    return done > 0 ? progress_elapsed(p) * (1 - done) / done : NAN;
}

static void print_clock(char *text, size_t size, double seconds)
{
    const long s = lrint(seconds);
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

static void print_bar(char *text, double done, int width)
{
    char *out = text;
    const int filled = (int)(done * width);
    out += sprintf(out, "%s", say_paint(PAINT_BAR));
    for (int i = 0; i < filled; i++)
        out += sprintf(out, "█");
    out += sprintf(out, "%s%s", say_paint(PAINT_OFF), say_paint(PAINT_FAINT));
    for (int i = filled; i < width; i++)
        out += sprintf(out, "░");
    sprintf(out, "%s", say_paint(PAINT_OFF));
}

static void show_bar(const Progress *p)
{
    char bar[BAR_WIDTH * 4 + PAINT_BYTES] = "", line[256], time[32], left[32] = "?";
    char what[64] = "";
    if (p->files)
        snprintf(what, sizeof(what), "%d/%d files ", p->files_done, p->files);
    const double done = fraction(p);
    const int columns = say_columns(STDERR_FILENO);
    print_clock(time, sizeof(time), time_done(p));
    if (!isnan(eta(p)))
        print_clock(left, sizeof(left), eta(p));
    const int room = columns - TEXT_COLUMNS - (int)strlen(what);
    if (!isnan(done) && room >= MIN_BAR_WIDTH)
        print_bar(bar, done, room < BAR_WIDTH ? room : BAR_WIDTH);
    if (isnan(done))
        snprintf(line, sizeof(line), "%sframe %lld  %s  %.0f fps  %.2fx", what,
                 (long long)frames_done(p), time, fps(p), speed(p));
    else
        snprintf(line, sizeof(line), "%s%3.0f%% %s  frame %lld  %s  %.0f fps  %.2fx  ETA %s", what,
                 floor(done * 100), bar, (long long)frames_done(p), time, fps(p), speed(p), left);
    if (!bar[0] && (int)strlen(line) >= columns)
        line[columns - 1] = '\0'; /* a line that wraps cannot be replaced */
    say_bottom(line);
}

static void print_number(const char *key, double value, int digits, const char *end)
{
    if (isfinite(value))
        fprintf(stderr, "\"%s\":%.*f%s", key, digits, value, end);
    else
        fprintf(stderr, "\"%s\":null%s", key, end);
}

static void show_json(const Progress *p, const char *state)
{
    flockfile(stderr);
    fputc('{', stderr);
    print_number("frame", (double)frames_done(p), 0, ",");
    print_number("frames", p->frames > 0 ? (double)p->frames : NAN, 0, ",");
    print_number("time", time_done(p), 3, ",");
    print_number("duration", p->duration > 0 ? p->duration : NAN, 3, ",");
    print_number("percent", fraction(p) * 100, 2, ",");
    print_number("fps", fps(p), 2, ",");
    print_number("speed", speed(p), 3, ",");
    print_number("eta", eta(p), 1, ",");
    print_number("dropped", 0, 0, ",");
    print_number("bytes", p->bytes >= 0 ? (double)p->bytes : NAN, 0, ",");
    if (p->files)
        fprintf(stderr, "\"files_done\":%d,\"files\":%d,", p->files_done, p->files);
    fprintf(stderr, "\"state\":\"%s\"}\n", state);
    fflush(stderr);
    funlockfile(stderr);
}

void progress_update(Progress *p)
{
    if (p->share) {
        const double done = fraction(p);
        atomic_store(&p->share->frames, frames_done(p));
        atomic_store(&p->share->time_us, (long long)(time_done(p) * 1e6));
        atomic_store(&p->share->done, isnan(done) ? 0 : (int)(done * PROGRESS_WHOLE));
    }
    const double interval = p->style == PROGRESS_BAR ? BAR_INTERVAL : JSON_INTERVAL;
    if (p->style == PROGRESS_NONE || now() - p->shown < interval)
        return;
    p->shown = now();
    if (p->style == PROGRESS_JSON)
        show_json(p, "running");
    else
        show_bar(p);
}

void progress_end(Progress *p, const char *state)
{
    if (p->style == PROGRESS_JSON && p->started > 0)
        show_json(p, state);
    else if (p->style == PROGRESS_BAR)
        say_bottom("");
}
