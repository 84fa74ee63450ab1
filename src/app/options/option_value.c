#include "app/options/option_value.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options/option_table.h"
#include "media/error.h"

/* An option's value and the field that it sets. */
typedef struct Setting {
    const Option *option;
    const char *value;
    void *field;
    const Refusal *refusal;
} Setting;

int refuse(const Refusal *refusal, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(refusal->text, refusal->size, format, args);
    va_end(args);
    return -1;
}

/* Refuses a value, as in "--clip '-1': must be ...". */
static int refuse_value(const Setting *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int refuse_value(const Setting *s, const char *format, ...)
{
    char allowed[256];
    va_list args;
    va_start(args, format);
    vsnprintf(allowed, sizeof(allowed), format, args);
    va_end(args);
    return refuse(s->refusal, "%s%s %s: must be %s", s->refusal->dashes, s->option->name,
                  media_quote(s->value), allowed);
}

static int read_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || strpbrk(text, " xXnN")) /* no spaces, hexadecimal, nan, inf */
        return -1;
    *value = strtod(text, &end);
    return *end == '\0' ? 0 : -1;
}

/* Parses [[HH:]MM:]SS[.m], or a number with the unit s, ms or us. */
static int read_time(const char *text, int64_t *us)
{
    double parts[3], total = 0, unit = 1;
    char copy[64];
    int count = 0;
    if (strlen(text) >= sizeof(copy))
        return -1;
    strcpy(copy, text);
    const size_t n = strlen(copy);
    if (n > 2 && (strcmp(copy + n - 2, "ms") == 0 || strcmp(copy + n - 2, "us") == 0)) {
        unit = copy[n - 2] == 'm' ? 1e-3 : 1e-6;
        copy[n - 2] = '\0';
    } else if (n > 1 && copy[n - 1] == 's') {
        copy[n - 1] = '\0';
    }
    for (char *part = copy, *next; part; part = next) {
        next = strchr(part, ':');
        if (next)
            *next++ = '\0';
        if (count == 3 || read_number(part, &parts[count]) < 0 || parts[count] < 0)
            return -1;
        if (count && parts[count] >= 60)
            return -1;
        total = total * 60 + parts[count++];
    }
    total *= unit;
    if (!(total < 1e10))
        return -1;
    *us = llrint(total * 1e6);
    return 0;
}

static int set_flag(const Setting *s)
{
    const int no = s->value && (strcmp(s->value, "no") == 0 || strcmp(s->value, "off") == 0);
    const bool loops = s->value && strcmp(s->value, "inf") == 0 && /* as in mpv */
                       strncmp(s->option->name, "loop", strlen("loop")) == 0;
    if (s->value && !no && !loops && strcmp(s->value, "yes") != 0 && strcmp(s->value, "on") != 0) {
        if (*s->refusal->dashes)
            return refuse(s->refusal, "%s%s takes only =yes or =no, not %s", s->refusal->dashes,
                          s->option->name, media_quote(s->value));
        return refuse_value(s, "yes or no");
    }
    *(int *)s->field = !no;
    return 0;
}

static bool is_profile(const char *name)
{
    for (int i = 0; i < profile_count; i++)
        if (strcmp(name, profiles[i].name) == 0)
            return true;
    return false;
}

/* Returns the value's index in `choices`, which are separated by |, or -1. */
static int read_choice(const Setting *s, const char *choices)
{
    const char *choice = choices, *meant = NULL;
    int best = NOT_SIMILAR;
    for (int i = 0;; i++) {
        const size_t n = strcspn(choice, "|");
        if (strlen(s->value) == n && strncmp(choice, s->value, n) == 0)
            return i;
        const int distance = name_distance(s->value, strlen(s->value), choice, n);
        if (distance < best) {
            best = distance;
            meant = choice;
        }
        if (choice[n] == '\0')
            break;
        choice += n + 1;
    }
    if (strcmp(s->option->name, "mode") == 0 && is_profile(s->value))
        return refuse_value(s, "one of %s; did you mean %sprofile %s?", choices, s->refusal->dashes,
                            s->value);
    if (!meant)
        return refuse_value(s, "one of %s", choices);
    return refuse_value(s, "one of %s; did you mean %.*s?", choices, (int)strcspn(meant, "|"),
                        meant);
}

static int set_choice(const Setting *s)
{
    const int index = read_choice(s, s->option->choices);
    if (index >= 0)
        *(int *)s->field = index;
    return index < 0 ? -1 : 0;
}

static int set_profile(const Setting *s)
{
    char names[128] = "";
    for (int i = 0; i < profile_count; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s|", profiles[i].name);
    snprintf(names + strlen(names), sizeof(names) - strlen(names), "help");
    const int index = read_choice(s, names);
    if (index >= 0)
        *(int *)s->field = index < profile_count ? index + 1 : PROFILE_HELP;
    return index < 0 ? -1 : 0;
}

static int set_help(const Setting *s)
{
    const int index = s->value ? read_choice(s, s->option->choices) : 0;
    if (index >= 0)
        *(int *)s->field = index + 1;
    return index < 0 ? -1 : 0;
}

static int set_number(const Setting *s)
{
    const Option *o = s->option;
    const int takes_zero = o->type == OPTION_ANY_NUMBER, takes_auto = o->type != OPTION_NUMBER;
    const int takes_off = o->type == OPTION_OFF_NUMBER || o->type == OPTION_LOOKAHEAD;
    const int off = takes_off && strcmp(s->value, "off") == 0;
    double number;
    if (off || (takes_auto && strcmp(s->value, "auto") == 0)) {
        *(double *)s->field = off ? 0 : -1;
        return 0;
    }
    if (read_number(s->value, &number) < 0 || number > o->max ||
        (number < o->min && !(takes_zero && number == 0)))
        return refuse_value(s, "%s%s%s%sa number from %.15g to %.15g", takes_auto ? "auto" : "",
                            takes_off ? ", off" : "", takes_zero ? ", 0" : "",
                            takes_auto ? " or " : "", o->min, o->max);
    *(double *)s->field = number;
    return 0;
}

/* Accepts "on" as well, for the old name, --two-pass. */
static int set_lookahead(const Setting *s)
{
    if (strcmp(s->value, "on") != 0)
        return set_number(s);
    *(double *)s->field = s->option->max;
    return 0;
}

static int set_integer(const Setting *s)
{
    const Option *o = s->option;
    double number;
    if (o->type == OPTION_TRACK && strcmp(s->value, "none") == 0) {
        *(int64_t *)s->field = TRACK_NONE;
        return 0;
    }
    if (read_number(s->value, &number) < 0 || number < o->min || number > o->max)
        return refuse_value(s, "a number from %.15g to %.15g%s", o->min, o->max,
                            o->type == OPTION_TRACK ? ", or none" : "");
    if (number != floor(number))
        return refuse_value(s, "a whole number");
    *(int64_t *)s->field = (int64_t)number;
    return 0;
}

static int set_may_integer(const Setting *s)
{
    *(int64_t *)s->field = -1;
    return s->value ? set_integer(s) : 0;
}

/* Parses "8x8" or "1280x720". */
static int set_pair(const Setting *s)
{
    const Option *o = s->option;
    int pair[2] = {0}, end = 0;
    if (strspn(s->value, "0123456789x") == strlen(s->value) &&
        sscanf(s->value, "%5dx%5d%n", &pair[0], &pair[1], &end) == 2 && !s->value[end] &&
        pair[0] >= o->min && pair[0] <= o->max && pair[1] >= o->min && pair[1] <= o->max) {
        memcpy(s->field, pair, sizeof(pair)); /* an OptionsTiles or an OptionsSize */
        return 0;
    }
    return o->type == OPTION_SIZE
               ? refuse_value(s, "width x height such as 1280x720")
               : refuse_value(s, "columns x rows such as 8x8, from %.15g to %.15g each", o->min,
                              o->max);
}

/* Parses "0,0,640,360" or "centre". */
static int set_part(const Setting *s)
{
    LumeqRect part = {0, 0, -1, -1};
    int end = 0;
    if (strcmp(s->value, "centre") != 0 && (strspn(s->value, "0123456789,") != strlen(s->value) ||
                                            sscanf(s->value, "%5d,%5d,%5d,%5d%n", &part.x, &part.y,
                                                   &part.width, &part.height, &end) != 4 ||
                                            s->value[end] || part.width < 1 || part.height < 1))
        return refuse_value(s, "left,top,width,height in pixels such as 0,0,640,360, or centre");
    *(LumeqRect *)s->field = part;
    return 0;
}

/* Parses "800K", "4M" or "50G". */
static int set_scaled(const Setting *s)
{
    static const char units[] = "KMGT";
    const Option *o = s->option;
    char *end;
    double number = strtod(s->value, &end);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    for (long power = unit ? unit - units + 1 : 0; power > 0; power--)
        number *= 1000;
    end += unit != NULL;
    if (end == s->value || *end || !(number >= o->min && number <= o->max))
        return refuse_value(s, o->type == OPTION_RATE
                                   ? "bits per second, at least 10K, such as 800K or 4M"
                                   : "bytes, at least 1M, such as 500M or 50G");
    *(int64_t *)s->field = llrint(number);
    return 0;
}

static int set_time(const Setting *s)
{
    if (read_time(s->value, s->field) < 0)
        return refuse_value(s, "a time such as 90, 1:30, 1:02:03.5 or 1500ms");
    return 0;
}

static int set_text(const Setting *s)
{
    if (!*s->value)
        return refuse(s->refusal, "%s%s needs a value: %s", s->refusal->dashes, s->option->name,
                      s->option->choices);
    *(const char **)s->field = s->value;
    return 0;
}

static int set_may_text(const Setting *s)
{
    *(const char **)s->field = "";
    return s->value ? set_text(s) : 0;
}

static int set_list(const Setting *s)
{
    const char **list = s->field;
    int count = 0;
    while (list[count])
        count++;
    if (!strchr(s->value, '=') || s->value[0] == '=')
        return refuse_value(s, "KEY=VALUE");
    if (count == MAX_ENCODER_OPTIONS)
        return refuse(s->refusal, "%s%s: at most %d are allowed", s->refusal->dashes,
                      s->option->name, MAX_ENCODER_OPTIONS);
    list[count] = s->value;
    return 0;
}

static const struct {
    int (*set)(const Setting *);
    size_t size; /* of the field */
} types[] = {
    [OPTION_FLAG] = {set_flag, sizeof(int)},
    [OPTION_HELP] = {set_help, sizeof(int)},
    [OPTION_CHOICE] = {set_choice, sizeof(int)},
    [OPTION_PROFILE] = {set_profile, sizeof(int)},
    [OPTION_NUMBER] = {set_number, sizeof(double)},
    [OPTION_AUTO_NUMBER] = {set_number, sizeof(double)},
    [OPTION_ANY_NUMBER] = {set_number, sizeof(double)},
    [OPTION_OFF_NUMBER] = {set_number, sizeof(double)},
    [OPTION_LOOKAHEAD] = {set_lookahead, sizeof(double)},
    [OPTION_TILES] = {set_pair, sizeof(OptionsTiles)},
    [OPTION_SIZE] = {set_pair, sizeof(OptionsSize)},
    [OPTION_PART] = {set_part, sizeof(LumeqRect)},
    [OPTION_INTEGER] = {set_integer, sizeof(int64_t)},
    [OPTION_TRACK] = {set_integer, sizeof(int64_t)},
    [OPTION_MAY_INTEGER] = {set_may_integer, sizeof(int64_t)},
    [OPTION_RATE] = {set_scaled, sizeof(int64_t)},
    [OPTION_BYTES] = {set_scaled, sizeof(int64_t)},
    [OPTION_TIME] = {set_time, sizeof(int64_t)},
    [OPTION_TEXT] = {set_text, sizeof(const char *)},
    [OPTION_MAY_TEXT] = {set_may_text, sizeof(const char *)},
    [OPTION_LIST] = {set_list, sizeof(((Options *)0)->encoder_options)},
};

size_t option_size(const Option *option)
{
    return types[option->type].size;
}

void option_copy(const Option *option, Options *to, const Options *from)
{
    memcpy((char *)to + option->offset, (const char *)from + option->offset, option_size(option));
}

int option_set(const Option *option, Options *options, const char *value, const Refusal *refusal)
{
    const Setting setting = {option, value, (char *)options + option->offset, refusal};
    return types[option->type].set(&setting);
}

void option_set_profile(Options *options)
{
    char unused[64];
    const Refusal refusal = {unused, sizeof(unused), ""};
    if (options->profile < 1)
        return;
    for (const ProfileSetting *s = profiles[options->profile - 1].settings; s->option; s++)
        (void)option_set(option_find(s->option, strlen(s->option)), options, s->value, &refusal);
}
