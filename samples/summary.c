#include "summary.h"

#include <math.h>
#include <stdio.h>

#define NAME_COLUMNS 26

static void add(Summary *s, const StatsRow *row)
{
    s->frames++;
    s->mean_in += row->mean_in;
    s->mean_out += row->mean_out;
    s->contrast_in += row->contrast_in;
    s->contrast_out += row->contrast_out;
    s->entropy_in += row->entropy_in;
    s->entropy_out += row->entropy_out;
}

static void divide(Summary *s)
{
    const double n = s->frames ? s->frames : 1;
    s->mean_in /= n;
    s->mean_out /= n;
    s->contrast_in /= n;
    s->contrast_out /= n;
    s->entropy_in /= n;
    s->entropy_out /= n;
}

Summary summarize(const StatsRows *rows, double from, double to)
{
    Summary s = {0};
    int steps = 0;
    for (int i = 0; i < rows->count; i++) {
        const StatsRow *row = &rows->rows[i];
        if (row->time < from || row->time >= to)
            continue;
        if (s.frames > 0 && !row->scene_cut) {
            const StatsRow *last = row - 1;
            s.excess_flicker +=
                fabs((row->mean_out - last->mean_out) - (row->mean_in - last->mean_in));
            steps++;
        }
        add(&s, row);
    }
    divide(&s);
    s.excess_flicker /= steps ? steps : 1;
    return s;
}

void summary_print_head(void)
{
    printf("%-*s %6s  %-15s %-15s %-15s %s\n", NAME_COLUMNS, "", "", "mean luma", "contrast",
           "entropy, bits", "excess");
    printf("%-*s %6s  %-15s %-15s %-15s %s\n", NAME_COLUMNS, "", "frames", "before   after",
           "before   after", "before   after", "flicker");
}

/* Counts UTF-8 characters: skips continuation bytes, 10xxxxxx. */
static int characters(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

void summary_print(const char *name, const Summary *s)
{
    const int fill = NAME_COLUMNS - characters(name);
    printf("%s%*s %6d  %6.1f  %6.1f  %6.1f  %6.1f  %6.2f  %6.2f  %6.2f\n", name,
           fill > 0 ? fill : 0, "", s->frames, s->mean_in, s->mean_out, s->contrast_in,
           s->contrast_out, s->entropy_in, s->entropy_out, s->excess_flicker);
}
