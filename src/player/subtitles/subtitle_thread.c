#include "player/subtitles/subtitle_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/packet_set.h"

/* Maximum waiting packets. COMMANDS: at most one reset follows each packet. */
#define PACKETS 512
#define PACKET_BYTES (4 << 20)
#define COMMANDS (2 * PACKETS + 2)

/* How long the previous picture may be shown instead of a late one. */
#define KEEP_US 500000

typedef enum CommandKind { COMMAND_PACKET, COMMAND_RESET, COMMAND_SELECT } CommandKind;

typedef struct Command {
    CommandKind kind;
    AVPacket *packet;
    Source *source; /* shared */
    const AVStream *stream;
} Command;

typedef struct Commands {
    Command all[COMMANDS];
    int count, packets;
    size_t packet_bytes;
} Commands;

/* A drawn or requested picture. */
typedef struct Picture {
    bool exists;
    int64_t position; /* AV_NOPTS_VALUE: request to draw nothing */
    SubtitlesPlace place;
    int64_t commands; /* number of commands that were executed before it was drawn */
    Overlay overlay;  /* its pixels belong to the Subtitles */
} Picture;

struct SubtitleThread {
    void (*wake)(void *opaque);
    void *opaque;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* protects the next members */
    pthread_cond_t changed;
    bool busy, ends;
    bool awaited; /* the loop lacks the current picture */

    /* The thread uses the next members while it is busy, the loop otherwise. */
    Subtitles *subtitles;
    Source *source; /* source of the selected track, shared */
    Commands work;
    Picture made;
    bool pixels_differ; /* the pixels have changed since the loop last took a picture */

    /* Only the loop uses the next members. */
    Commands waiting;
    int64_t commands, selected_at; /* number of commands so far, and at the last selection */
    bool selected;
    Picture shown;
    char trouble[512];
};

static void clear(Commands *commands)
{
    for (int i = 0; i < commands->count; i++) {
        av_packet_free(&commands->all[i].packet);
        source_close(&commands->all[i].source);
    }
    commands->count = commands->packets = 0;
    commands->packet_bytes = 0;
}

static void run_commands(SubtitleThread *t)
{
    for (int i = 0; i < t->work.count; i++) {
        Command *command = &t->work.all[i];
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
    }
    clear(&t->work);
}

static void *thread_main(void *arg)
{
    SubtitleThread *t = arg;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->ends && !t->busy)
            pthread_cond_wait(&t->changed, &t->lock);
        if (t->ends)
            break;
        pthread_mutex_unlock(&t->lock);
        Picture *made = &t->made;
        run_commands(t);
        made->exists = made->position != AV_NOPTS_VALUE;
        if (made->exists &&
            subtitles_draw(t->subtitles, made->position, &made->place, &made->overlay))
            t->pixels_differ = true;
        pthread_mutex_lock(&t->lock);
        t->busy = false;
        if (t->awaited)
            t->wake(t->opaque);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

SubtitleThread *subtitle_thread_create(void (*wake)(void *opaque), void *opaque)
{
    SubtitleThread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->wake = wake;
    t->opaque = opaque;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->running =
        subtitles_open(&t->subtitles) >= 0 && pthread_create(&t->thread, NULL, thread_main, t) == 0;
    if (!t->running)
        subtitle_thread_free(&t);
    return t;
}

/* There is always room: see COMMANDS. */
static void queue_command(SubtitleThread *t, Command command)
{
    t->commands++;
    t->waiting.all[t->waiting.count++] = command;
}

void subtitle_thread_select(SubtitleThread *t, Source *source, const AVStream *stream)
{
    t->selected = stream != NULL;
    t->trouble[0] = '\0';
    clear(&t->waiting);
    queue_command(t, (Command){.kind = COMMAND_SELECT,
                               .source = stream ? source_share(source) : NULL,
                               .stream = stream});
    t->selected_at = t->commands;
}

bool subtitle_thread_is_full(const SubtitleThread *t)
{
    return t->waiting.packets >= PACKETS || t->waiting.packet_bytes >= PACKET_BYTES;
}

void subtitle_thread_packet(SubtitleThread *t, const AVPacket *packet)
{
    AVPacket *kept = t->selected && !subtitle_thread_is_full(t) ? av_packet_clone(packet) : NULL;
    if (!kept)
        return;
    t->waiting.packets++;
    t->waiting.packet_bytes += packet_bytes(kept);
    queue_command(t, (Command){.kind = COMMAND_PACKET, .packet = kept});
}

/* Consecutive resets are merged. */
void subtitle_thread_reset(SubtitleThread *t)
{
    const int count = t->waiting.count;
    if (t->selected && !(count && t->waiting.all[count - 1].kind == COMMAND_RESET))
        queue_command(t, (Command){.kind = COMMAND_RESET});
}

/* True if the picture was drawn as requested, after all commands so far. */
static bool is_for(const SubtitleThread *t, const Picture *picture, const Picture *request)
{
    return picture->exists && picture->commands == t->commands &&
           picture->position == request->position &&
           memcmp(&picture->place, &request->place, sizeof(picture->place)) == 0;
}

/* True if the picture may be shown for a moment in place of the requested one. */
static bool can_stay(const SubtitleThread *t, const Picture *picture, const Picture *request)
{
    const Rect *of = &picture->place.picture, *now = &request->place.picture;
    return picture->exists && picture->commands >= t->selected_at && of->width == now->width &&
           of->height == now->height && request->position >= picture->position &&
           request->position - picture->position <= KEEP_US;
}

/* Gives the idle thread all waiting commands, and a picture to draw after them. */
static void give_work(SubtitleThread *t, const Picture *request)
{
    t->work = t->waiting;
    t->waiting.count = t->waiting.packets = 0;
    t->waiting.packet_bytes = 0;
    t->made = *request;
    pthread_mutex_lock(&t->lock);
    t->busy = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

bool subtitle_thread_draw(SubtitleThread *t, int64_t position, int64_t next,
                          const SubtitlesPlace *place, Overlay *overlay)
{
    const bool visible = t->selected && place->picture.width > 0 && place->picture.height > 0;
    const Picture now = {
        .position = visible ? position : AV_NOPTS_VALUE, .place = *place, .commands = t->commands};
    const bool was_there = t->shown.exists;
    bool changed = false;
    pthread_mutex_lock(&t->lock);
    const bool idle = !t->busy;
    t->awaited = visible && !is_for(t, &t->shown, &now);
    pthread_mutex_unlock(&t->lock);
    if (idle && visible && can_stay(t, &t->made, &now)) {
        t->shown = t->made;
        t->made.exists = false;
        changed = t->pixels_differ || !was_there;
        t->pixels_differ = false;
    }
    t->shown.exists = visible && can_stay(t, &t->shown, &now);
    *overlay = t->shown.exists ? t->shown.overlay : (Overlay){0};
    if (changed || was_there != t->shown.exists)
        return true; /* no new work until the caller has read the pixels */
    if (!idle)
        return false;
    Picture work = now;
    if (is_for(t, &t->shown, &now))
        work.position = next;
    if (t->waiting.count || (work.position != AV_NOPTS_VALUE && !is_for(t, &t->made, &work)))
        give_work(t, &work);
    return false;
}

const char *subtitle_thread_trouble(SubtitleThread *t)
{
    const bool is_selecting = t->waiting.count && t->waiting.all[0].kind == COMMAND_SELECT;
    pthread_mutex_lock(&t->lock);
    if (!t->busy && !is_selecting) {
        const char *trouble = subtitles_trouble(t->subtitles);
        snprintf(t->trouble, sizeof(t->trouble), "%s", trouble ? trouble : "");
    }
    pthread_mutex_unlock(&t->lock);
    return t->trouble[0] ? t->trouble : NULL;
}

void subtitle_thread_free(SubtitleThread **thread)
{
    SubtitleThread *t = *thread;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->running)
        pthread_join(t->thread, NULL);
    clear(&t->work);
    clear(&t->waiting);
    subtitles_close(&t->subtitles);
    source_close(&t->source);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
    *thread = NULL;
}
