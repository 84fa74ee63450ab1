#include "player/subtitles/subtitle_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/packet_set.h"
#include "run/queue.h"

/* Maximum packets in the queue; at most one reset follows each. */
#define PACKETS 512
#define PACKET_BYTES (4 << 20)
#define COMMANDS (2 * PACKETS + 2)

/* How long a late picture may be replaced by the previous one. */
#define KEEP_US 500000

typedef enum CommandKind { COMMAND_PACKET, COMMAND_RESET, COMMAND_SELECT } CommandKind;

/* Counters that identify the state a picture was drawn from. */
typedef struct Content {
    int64_t commands;
    int64_t elsewhere; /* resets and selections */
    int64_t selection;
} Content;

typedef struct Command {
    CommandKind kind;
    AVPacket *packet;
    Source *source; /* shared */
    const AVStream *stream;
    Content content; /* counters after this command */
} Command;

/* The picture is placed at (0, 0) so that moving it needs no redraw. */
typedef struct Request {
    int64_t position; /* AV_NOPTS_VALUE: none */
    SubtitlesPlace place;
} Request;

/* {0}: nothing was drawn. */
typedef struct Picture {
    int is_there;
    Request of;
    Content content;
    int64_t number;      /* identifies the image; 0: nothing visible */
    AVBufferRef *pixels; /* the overlay's memory */
    Overlay overlay;
} Picture;

struct SubtitleThread {
    void (*wake)(void *opaque);
    void *opaque;
    pthread_t thread;
    int running, lacks_thread;

    /* Used by the thread. */
    Subtitles *subtitles;
    Source *source; /* shared; of the selection */
    Content followed;

    /* Used by the loop. */
    Content told;
    int selected, reset_last; /* reset_last: the last command was a reset */
    Picture shown;
    int64_t position; /* last requested position */
    int64_t left;     /* ... before a reset; AV_NOPTS_VALUE: it has changed since */
    int64_t answered; /* number of the last returned picture, ... */
    int x, y;         /* ... and its position */
    char trouble[512];

    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    int ends;
    Queue *commands;
    int packets; /* in the queue */
    size_t packet_bytes;
    Request wanted, drawing;
    int64_t drawing_elsewhere;
    int awaited;  /* the loop is waiting for it */
    Picture made; /* finished, not taken yet; nothing is drawn until it is */
    char found[512];
    int64_t found_selection;
};

static int same_layout(const SubtitlesPlace *a, const SubtitlesPlace *b)
{
    return a->picture.width == b->picture.width && a->picture.height == b->picture.height &&
           a->video_width == b->video_width && a->video_height == b->video_height;
}

static int same_request(const Request *a, const Request *b)
{
    return a->position == b->position && a->place.covered == b->place.covered &&
           same_layout(&a->place, &b->place);
}

static void drop(Picture *picture)
{
    av_buffer_unref(&picture->pixels);
    *picture = (Picture){0};
}

typedef enum Work { WORK_END, WORK_COMMAND, WORK_DRAW } Work;

static int is_to_draw(const SubtitleThread *t, const Picture *last)
{
    const int is_drawn = last->is_there && same_request(&last->of, &t->wanted) &&
                         last->content.commands == t->followed.commands;
    return t->wanted.position != AV_NOPTS_VALUE && !t->made.is_there && !is_drawn;
}

static void take_command(SubtitleThread *t, Command *command)
{
    (void)queue_take(t->commands, command, QUEUE_TRY);
    if (command->kind != COMMAND_PACKET)
        return;
    t->packets--;
    t->packet_bytes -= packet_bytes(command->packet);
}

static Work wait_for_work(SubtitleThread *t, const Picture *last, Command *command,
                          Request *request)
{
    Work work = WORK_END;
    pthread_mutex_lock(&t->lock);
    while (!t->ends && !queue_count(t->commands) && !is_to_draw(t, last))
        pthread_cond_wait(&t->changed, &t->lock);
    if (!t->ends && queue_count(t->commands)) {
        work = WORK_COMMAND;
        take_command(t, command);
    } else if (!t->ends) {
        work = WORK_DRAW;
        *request = t->drawing = t->wanted;
        t->drawing_elsewhere = t->followed.elsewhere;
    }
    pthread_mutex_unlock(&t->lock);
    return work;
}

static void free_command(void *item)
{
    Command *command = item;
    av_packet_free(&command->packet);
    source_close(&command->source);
}

static void follow(SubtitleThread *t, Command *command)
{
    switch (command->kind) {
    case COMMAND_PACKET: subtitles_packet(t->subtitles, command->packet); break;
    case COMMAND_RESET: subtitles_reset(t->subtitles); break;
    case COMMAND_SELECT:
        subtitles_select(t->subtitles, command->source, command->stream);
        source_close(&t->source);
        t->source = command->source;
        command->source = NULL;
        break;
    }
    t->followed = command->content;
    free_command(command);
}

static void draw(SubtitleThread *t, const Request *request, Picture *picture, int64_t number)
{
    Overlay overlay;
    if (subtitles_draw(t->subtitles, request->position, &request->place, &overlay)) {
        /* copied because the next drawing overwrites it */
        const Canvas *canvas = &overlay.canvas;
        const size_t row = (size_t)canvas->width * 4;
        drop(picture);
        if (canvas->width > 0)
            picture->pixels = av_buffer_alloc(row * (size_t)canvas->height);
        if (picture->pixels) {
            picture->overlay.canvas =
                (Canvas){picture->pixels->data, (ptrdiff_t)row, canvas->width, canvas->height};
            canvas_copy(&picture->overlay.canvas, canvas,
                        (Rect){0, 0, canvas->width, canvas->height});
            picture->number = number;
        }
    }
    picture->overlay.x = overlay.x; /* bitmaps may move without a redraw */
    picture->overlay.y = overlay.y;
    picture->is_there = 1;
    picture->of = *request;
    picture->content = t->followed;
}

/* Publishes trouble and the new picture, which may be NULL. */
static void tell(SubtitleThread *t, const Picture *picture)
{
    AVBufferRef *pixels = picture && picture->pixels ? av_buffer_ref(picture->pixels) : NULL;
    pthread_mutex_lock(&t->lock);
    const char *trouble = subtitles_trouble(t->subtitles);
    int wakes = t->found_selection != t->followed.selection ||
                strcmp(t->found, trouble ? trouble : "") != 0;
    snprintf(t->found, sizeof(t->found), "%s", trouble ? trouble : "");
    t->found_selection = t->followed.selection;
    if (picture) {
        t->made = *picture; /* the last one was taken: see is_to_draw() */
        t->made.pixels = pixels;
        t->made.number = pixels ? picture->number : 0;
        t->drawing.position = AV_NOPTS_VALUE;
        wakes |= t->awaited;
    }
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        t->wake(t->opaque);
}

static void *thread_main(void *arg)
{
    SubtitleThread *t = arg;
    Picture last = {0};
    Command command;
    Request request;
    int64_t number = 0;
    for (Work work; (work = wait_for_work(t, &last, &command, &request)) != WORK_END;) {
        if (work == WORK_COMMAND)
            follow(t, &command);
        else
            draw(t, &request, &last, ++number);
        tell(t, work == WORK_DRAW ? &last : NULL);
    }
    drop(&last);
    return NULL;
}

SubtitleThread *subtitle_thread_create(void (*wake)(void *opaque), void *opaque)
{
    SubtitleThread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->wake = wake;
    t->opaque = opaque;
    t->wanted.position = t->drawing.position = t->position = t->left = AV_NOPTS_VALUE;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    const QueueOptions options = {.item = sizeof(Command), .count = COMMANDS, .free = free_command};
    if (queue_open(&t->commands, &options) < 0 || subtitles_open(&t->subtitles) < 0)
        subtitle_thread_free(&t);
    return t;
}

/* Call with the lock held. There is always room: see COMMANDS. */
static void put(SubtitleThread *t, Command command)
{
    t->told.commands++;
    t->told.elsewhere += command.kind != COMMAND_PACKET;
    t->told.selection += command.kind == COMMAND_SELECT;
    t->reset_last = command.kind == COMMAND_RESET;
    command.content = t->told;
    (void)queue_put(t->commands, &command, 0, QUEUE_TRY);
    pthread_cond_signal(&t->changed);
}

void subtitle_thread_select(SubtitleThread *t, Source *source, const AVStream *stream)
{
    if (stream && !t->running)
        t->running = pthread_create(&t->thread, NULL, thread_main, t) == 0;
    t->lacks_thread = stream && !t->running;
    t->selected = stream && t->running;
    drop(&t->shown);
    pthread_mutex_lock(&t->lock);
    for (Command command; queue_count(t->commands);) { /* of the old selection */
        take_command(t, &command);
        free_command(&command);
    }
    drop(&t->made);
    if (t->running)
        put(t, (Command){.kind = COMMAND_SELECT,
                         .source = stream ? source_share(source) : NULL,
                         .stream = stream});
    pthread_mutex_unlock(&t->lock);
}

int subtitle_thread_is_full(SubtitleThread *t)
{
    pthread_mutex_lock(&t->lock);
    const int is_full = t->packets >= PACKETS || t->packet_bytes >= PACKET_BYTES;
    pthread_mutex_unlock(&t->lock);
    return is_full;
}

void subtitle_thread_packet(SubtitleThread *t, const AVPacket *packet)
{
    AVPacket *kept = t->selected && !subtitle_thread_is_full(t) ? av_packet_clone(packet) : NULL;
    if (!kept)
        return;
    pthread_mutex_lock(&t->lock);
    t->packets++;
    t->packet_bytes += packet_bytes(kept);
    put(t, (Command){.kind = COMMAND_PACKET, .packet = kept});
    pthread_mutex_unlock(&t->lock);
}

/* Consecutive resets are merged. */
void subtitle_thread_reset(SubtitleThread *t)
{
    t->left = t->position;
    pthread_mutex_lock(&t->lock);
    if (t->selected && !(t->reset_last && queue_count(t->commands)))
        put(t, (Command){.kind = COMMAND_RESET});
    pthread_mutex_unlock(&t->lock);
}

/* Requests the next picture if this one is there or in progress. */
static void ask(SubtitleThread *t, const Request *now, int64_t next)
{
    const int is_there = t->shown.is_there && same_request(&t->shown.of, now) &&
                         t->shown.content.commands == t->told.commands;
    const int is_coming = t->drawing.position != AV_NOPTS_VALUE &&
                          t->drawing_elsewhere == t->told.elsewhere &&
                          same_layout(&t->drawing.place, &now->place);
    t->wanted = *now;
    if (is_there || is_coming)
        t->wanted.position = next;
    else
        drop(&t->made);
    t->awaited = !is_there;
    pthread_cond_signal(&t->changed);
}

static void follow_loop(SubtitleThread *t, const Request *now, int64_t next)
{
    Picture *made = &t->made, *shown = &t->shown;
    pthread_mutex_lock(&t->lock);
    if (t->selected && now->place.picture.width > 0 && now->place.picture.height > 0) {
        /* show the finished picture from its position on; keep it if it is the next one */
        const int is_usable = made->is_there && made->content.elsewhere == t->told.elsewhere &&
                              same_layout(&made->of.place, &now->place);
        if (is_usable && made->of.position <= now->position) {
            drop(shown);
            *shown = *made;
            if (t->left == now->position) /* the frame from before the seek is still visible */
                shown->content.elsewhere = -1;
            *made = (Picture){0};
        } else if (!is_usable || made->of.position != next) {
            drop(made);
        }
        const int is_elsewhere = shown->content.elsewhere != t->told.elsewhere ||
                                 llabs(now->position - shown->of.position) > KEEP_US;
        if (!same_layout(&shown->of.place, &now->place) ||
            (is_elsewhere && shown->of.position != now->position))
            drop(shown);
        ask(t, now, next);
    } else {
        drop(shown);
        drop(made);
        t->wanted.position = AV_NOPTS_VALUE;
        t->awaited = 0;
    }
    pthread_mutex_unlock(&t->lock);
}

int subtitle_thread_draw(SubtitleThread *t, int64_t position, int64_t next,
                         const SubtitlesPlace *place, Overlay *overlay)
{
    const int x = place->picture.x, y = place->picture.y;
    Request now = {position, *place};
    now.place.picture.x = now.place.picture.y = 0;
    if (t->left != position)
        t->left = AV_NOPTS_VALUE;
    t->position = position;
    follow_loop(t, &now, next);
    *overlay = t->shown.number ? t->shown.overlay : (Overlay){0};
    overlay->x += x;
    overlay->y += y;
    const int changed = t->shown.number != t->answered ||
                        (t->shown.number && (overlay->x != t->x || overlay->y != t->y));
    t->answered = t->shown.number;
    t->x = overlay->x;
    t->y = overlay->y;
    return changed;
}

const char *subtitle_thread_trouble(SubtitleThread *t)
{
    if (!t->running)
        return t->lacks_thread ? "subtitles cannot be shown: cannot start a thread" : NULL;
    pthread_mutex_lock(&t->lock);
    const int is_of_this = t->found_selection == t->told.selection;
    snprintf(t->trouble, sizeof(t->trouble), "%s", is_of_this ? t->found : "");
    pthread_mutex_unlock(&t->lock);
    return t->trouble[0] ? t->trouble : NULL;
}

void subtitle_thread_free(SubtitleThread **thread)
{
    SubtitleThread *t = *thread;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ends = 1;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->running)
        pthread_join(t->thread, NULL);
    queue_close(&t->commands);
    subtitles_close(&t->subtitles);
    source_close(&t->source);
    drop(&t->shown);
    drop(&t->made);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
    *thread = NULL;
}
