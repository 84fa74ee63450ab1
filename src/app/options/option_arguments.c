#include "app/options/option_arguments.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options/option_table.h"
#include "app/options/option_value.h"

bool option_arguments_may_differ(const char *name, size_t n)
{
    const Option *option = option_find(name, n);
    return option && (option->flags & OPTION_MACHINE);
}

static bool is_planned(const Option *option)
{
    return option->name && !(option->flags & (OPTION_MACHINE | OPTION_UNPLANNED | OPTION_WINDOW));
}

bool option_arguments_is_planned(const char *argument)
{
    const size_t n = strcspn(argument, "=");
    const Option *option = n > 2 && argument[n] && strncmp(argument, "--", 2) == 0
                               ? option_find(argument + 2, n - 2)
                               : NULL;
    return option && is_planned(option);
}

/* Prints choice `index` of "a|b|c". */
static void print_choice(char *text, size_t size, const char *choices, int index)
{
    for (; index > 0 && *choices; index--) {
        choices += strcspn(choices, "|");
        choices += *choices == '|';
    }
    snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

const char *option_value_text(const Option *option, const void *field, char *text, size_t size)
{
    const int number = *(const int *)field; /* if the field begins with an int */
    const double real = option_size(option) == sizeof(double) ? *(const double *)field : 0;
    const LumeqRect *part = field;
    const OptionsTiles *pair = field;
    int64_t whole = 0;
    if (option_size(option) == sizeof(whole))
        memcpy(&whole, field, sizeof(whole));
    switch (option->type) {
    case OPTION_FLAG: return number ? "yes" : "no";
    case OPTION_CHOICE: print_choice(text, size, option->choices, number); return text;
    case OPTION_PROFILE: return number > 0 ? profiles[number - 1].name : "none";
    case OPTION_AUTO_NUMBER:
    case OPTION_ANY_NUMBER:
    case OPTION_OFF_NUMBER:
        if (real < 0)
            return "auto";
        break;
    case OPTION_TILES:
    case OPTION_SIZE: snprintf(text, size, "%dx%d", pair->x, pair->y); return text;
    case OPTION_PART:
        snprintf(text, size, "%d,%d,%d,%d", part->x, part->y, part->width, part->height);
        return part->width < 0 ? "centre" : text;
    case OPTION_INTEGER:
    case OPTION_MAY_INTEGER:
    case OPTION_TRACK:
    case OPTION_BYTES:
    case OPTION_RATE: snprintf(text, size, "%" PRId64, whole); return text;
    case OPTION_TIME:
        snprintf(text, size, "%" PRId64 ".%06d", whole / 1000000, (int)(whole % 1000000));
        return text;
    case OPTION_TEXT:
    case OPTION_MAY_TEXT: return *(const char *const *)field;
    default: break;
    }
    /* Use the fewest digits that read back as the same number. */
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, real);
        if (strtod(text, NULL) == real)
            break;
    }
    return text;
}

static int take_one(const Option *option, const char *value,
                    int (*take)(void *opaque, const char *argument), void *opaque)
{
    char argument[4200];
    const int n = snprintf(argument, sizeof(argument), "--%s=%s", option->name, value);
    return n < 0 || (size_t)n >= sizeof(argument) ? -1 : take(opaque, argument);
}

static int differs(const Option *option, const Options *o, const Options *base)
{
    const void *a = (const char *)o + option->offset, *b = (const char *)base + option->offset;
    if (option->type == OPTION_TEXT || option->type == OPTION_MAY_TEXT) {
        const char *x = *(const char *const *)a, *y = *(const char *const *)b;
        return x != y && (!x || !y || strcmp(x, y) != 0);
    }
    return memcmp(a, b, option_size(option)) != 0;
}

int option_arguments(const Options *o, int (*take)(void *opaque, const char *argument),
                     void *opaque)
{
    Options base = options_default();
    int ret = 0;
    base.profile = o->profile;
    option_set_profile(&base);
    base.profile = 0;
    for (int i = 0; ret >= 0 && i < option_count; i++) {
        const Option *option = &option_table[i];
        const char *field = (const char *)o + option->offset;
        char text[256];
        if (!is_planned(option))
            continue;
        if (option->type == OPTION_LIST) {
            const char *const *list = (const char *const *)field;
            for (; ret >= 0 && *list; list++)
                ret = take_one(option, *list, take, opaque);
        } else if (differs(option, o, &base)) {
            ret = take_one(option, option_value_text(option, field, text, sizeof(text)), take,
                           opaque);
        }
    }
    return ret;
}

void option_print_given(const Options *o, const char *name, char *text, size_t size)
{
    const Option *option = option_find(name, strlen(name));
    char plain[64];
    const char *value =
        option_value_text(option, (const char *)o + option->offset, plain, sizeof(plain));
    const Profile *profile = o->profile > 0 ? &profiles[o->profile - 1] : NULL;
    snprintf(text, size, "--%s %s", name, value);
    for (const ProfileSetting *s = profile ? profile->settings : NULL; s && s->option; s++)
        if (strcmp(s->option, name) == 0 && strcmp(s->value, value) == 0)
            snprintf(text, size, "--profile %s", profile->name);
}
