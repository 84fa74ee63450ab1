#include "player/subtitles/subtitle_budget.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more in an array of `count`: 0 or -1. */
static int grow(void **array, int *room, int count, size_t size)
{
    if (count < *room)
        return 0;
    const int more = *room ? 2 * *room : 256;
    void *grown = realloc(*array, (size_t)more * size);
    if (!grown)
        return -1;
    *array = grown;
    *room = more;
    return 0;
}

/* What a line takes, waiting or as an event of the track. */
static int64_t text_bytes(const char *text)
{
    return (int64_t)(strlen(text) + 1 + sizeof(BudgetLine) + sizeof(ASS_Event) + sizeof(int64_t));
}

void subtitle_budget_add(SubtitleBudget *b, const char *text, long long start, long long duration)
{
    const int64_t bytes = b->text_bytes + text_bytes(text);
    void *lines = b->lines;
    char *copy = bytes <= SUBTITLE_TEXT_BUDGET ? strdup(text) : NULL;
    if (!copy || grow(&lines, &b->line_room, b->line_count, sizeof(*b->lines)) < 0) {
        free(copy);
        b->left_out++;
        return;
    }
    b->lines = lines;
    b->text_bytes = bytes;
    b->lines[b->line_count++] = (BudgetLine){copy, start, duration};
}

int64_t subtitle_budget_bytes(const ASS_Image *image)
{
    int64_t bytes = 0;
    for (; image; image = image->next)
        bytes += (int64_t)image->stride * image->h;
    return bytes;
}

static int64_t cost_of(SubtitleBudget *b, ASS_Renderer *renderer, const BudgetLine *line,
                       long long now)
{
    ass_flush_events(b->probe);
    ass_process_chunk(b->probe, line->text, (int)strlen(line->text), line->start, line->duration);
    return subtitle_budget_bytes(ass_render_frame(renderer, b->probe, now, NULL));
}

static int64_t cost_of_seen(const SubtitleBudget *b, const ASS_Track *track, long long now)
{
    int64_t total = b->text_bytes;
    for (int i = 0; i < b->cost_count; i++) {
        const ASS_Event *event = &track->events[i];
        if (event->Start <= now && now < event->Start + event->Duration)
            total += b->cost[i];
    }
    return total;
}

/* libass passes over lines that are none. */
static int put_in(SubtitleBudget *b, ASS_Track *track, const BudgetLine *line, int64_t cost)
{
    void *costs = b->cost;
    if (grow(&costs, &b->cost_room, b->cost_count, sizeof(*b->cost)) < 0)
        return -1;
    b->cost = costs;
    ass_process_chunk(track, line->text, (int)strlen(line->text), line->start, line->duration);
    if (track->n_events > b->cost_count)
        b->cost[b->cost_count++] = cost;
    return 0;
}

int subtitle_budget_take(SubtitleBudget *b, ASS_Renderer *renderer, ASS_Track *track, long long now,
                         int (*may_go_on)(void *opaque), void *opaque)
{
    int64_t total = -1;
    int left = 0, rendered = 0, stopped = 0;
    for (int i = 0; i < b->line_count; i++) {
        BudgetLine *line = &b->lines[i];
        if (stopped || line->start > now || now >= line->start + line->duration) {
            b->lines[left++] = *line;
            continue;
        }
        total = total < 0 ? cost_of_seen(b, track, now) : total;
        int64_t cost = 0;
        if (total <= SUBTITLE_BUDGET) { /* else nothing fits in, whatever it is */
            cost = cost_of(b, renderer, line, now);
            rendered++;
            stopped = !may_go_on(opaque);
        }
        if (total + cost > SUBTITLE_BUDGET || put_in(b, track, line, cost) < 0) {
            b->left_out++;
            b->text_bytes -= text_bytes(line->text);
        }
        total += cost;
        free(line->text);
    }
    b->line_count = left;
    return rendered;
}

void subtitle_budget_close(SubtitleBudget *b)
{
    if (b->probe)
        ass_free_track(b->probe);
    for (int i = 0; i < b->line_count; i++)
        free(b->lines[i].text);
    free(b->lines);
    free(b->cost);
    *b = (SubtitleBudget){0};
}
