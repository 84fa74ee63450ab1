#include "player/player.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "media/convert.h"
#include "player/commands.h"
#include "player/file_dialog.h"
#include "player/library_log.h"
#include "player/preview.h"
#include "player/status.h"

/* How long a turn waits at most: the stop flag of the program is looked at between turns. */
#define TURN_US 100000

/* How long the position is seen that was asked for. */
#define POSITION_US 1000000

#define SECOND 1000000

/* Packets: a file may have a hundred thousand at one place. */
#define SUBTITLES_A_TURN 256

/* Subtitles are those of the frame that is shown. Where the next one is a while away they go on
 * without it, so long behind it. */
#define SUBTITLES_BEHIND_US 50000

/* Frames that are decoded on a GPU and not given back: those that wait, those that are equalized
 * ahead or may be anew, those before them, and the one that is shown. */
#define GPU_FRAMES 16

/* How long the first frame of a file that was dropped is waited for. One that takes longer is given
 * the benefit of the doubt. */
#define FIRST_FRAME_US 3000000

/* So long after a key that changes the picture, what the window says of it waits for that picture:
 * drawn alone, it would hold the picture up by one refresh of the screen. */
#define ANSWER_US 40000

/* So long before the end of a file the next one is opened. */
#define AHEAD_US 5000000

/* Each of them may take a while. */
#define MAX_STEPS_BACK 10

/* A file that is to take the place of the one that is played. */
typedef struct Next {
    char path[PATH_MAX]; /* "": there is none */
    int at, step;        /* in its list: where it is, and where to go on if it cannot be played */
    int waits;           /* for the end of what is shown; or else for its own first frame only */
    Playback *playback;  /* once it was opened, until its first frame is there; or NULL */
    int64_t since;       /* that is waited for */
} Next;

/* Where the mouse is on the bar's track. */
typedef struct Pointed {
    int x;
    int64_t position; /* -1: elsewhere */
    Canvas picture;   /* the preview's */
} Pointed;

struct Player {
    PlayerOptions options;
    PlayerEqualizer equalizer;
    char path[PATH_MAX];
    uint32_t wake_event;

    Screen *screen;
    EqualizeStage *stage;
    Showing *showing;
    Playback *playback;
    FileList files;   /* what is played one after the other */
    FileList dropped; /* what takes their place once one of it is played */
    Next next;
    MediaError broken; /* why what is played cannot go on, until the next file takes its place */
    SubtitleThread *subtitles;
    int kept, kept_end; /* packets of the playback's store that are still to be given to it */
    int trouble_said;   /* what is wrong with the subtitles */

    /* What others own, to be read. */
    const ScreenState *seen;
    const Shown *shown;

    FileDialog *dialog;
    Preview *preview;
    Pointed pointed;
    Controls controls;
    OsdBar bar;
    int64_t titled; /* the second that the window's title tells */
    Wanted wanted;
    int inside;     /* the frame before was a part of what is repeated */
    int steps;      /* frames to go on by while paused */
    int steps_back; /* frames to go back by when the one that was asked for is there */
    CameraWatch camera;
    PlayerRecording recording;
    PlayerWriting writing;
    int told_of_writing;  /* that it would be given up */
    Delay response;       /* from a key that changes a setting until that was seen */
    int64_t asked_at;     /* by the first such key that was not answered; 0: all were */
    int64_t answer_until; /* the window waits for what it asked for */
    int64_t longest_turn; /* without OpenGL */
    int over;             /* it is to be closed */
    int ended;            /* it came to its end by itself, and is over or kept open there */
};

static const PlaybackState *played(const Player *p)
{
    return playback_state(p->playback);
}

/* From any thread: ends the wait of a turn. */
static void wake(void *opaque)
{
    SDL_Event event = {.type = ((const Player *)opaque)->wake_event};
    (void)SDL_PushEvent(&event);
}

/* From the threads of any feed. */
static void wake_for_decoded(void *opaque)
{
    equalize_stage_wake(((const Player *)opaque)->stage);
    wake(opaque);
}

/* ---- opening ---- */

/* The part that was asked for is one of each file, but not of those that were dropped. */
static int has_part(const Player *p)
{
    return !p->dropped.count;
}

/* Tracks that were asked for are the first file's; that there are to be none holds for all. */
static PlaybackOptions playback_options(Player *p, int first)
{
    const int part = has_part(p);
    return (PlaybackOptions){
        .video = {.decoder = {.memory = p->equalizer.stage.memory,
                              .threads = p->options.threads,
                              .gpu = p->equalizer.stage.gpu,
                              .gpu_frames = GPU_FRAMES,
                              .budget = p->equalizer.gpu_budget,
                              .codes = {.mode = p->wanted.codes, .levels = p->wanted.range}},
                  .range = p->wanted.range,
                  .deinterlace = p->wanted.deinterlace,
                  .end = part && p->options.to_us >= 0 ? p->options.to_us : AV_NOPTS_VALUE,
                  .frames = part ? p->options.frames : -1,
                  .wake = wake_for_decoded,
                  .opaque = p},
        .audio_track = first ? p->options.audio_track : FFMIN(p->options.audio_track, 0),
        .sub_track = first ? p->options.sub_track : FFMIN(p->options.sub_track, 0),
        .no_audio = p->options.no_audio,
        .sound_later = !first,
        .speed = first ? p->options.speed : played(p)->speed,
        .packet = first ? p->options.packet : NULL,
        .opaque = p->options.opaque,
    };
}

static int is_part(const Player *p)
{
    return p->options.from_us >= 0 || p->options.to_us >= 0 || p->options.frames >= 0;
}

static int64_t position_left(const Player *p, const char *path, const Source *source)
{
    const int64_t left = p->options.where(p->options.opaque, path, source);
    char at[32];
    if (left <= 0)
        return AV_NOPTS_VALUE;
    status_position(left, 0, at, sizeof(at));
    screen_say(p->screen, "Where it was left: %s; Home begins it anew", at);
    return left;
}

static int open_playback(Player *p, Playback **next, Source *source, const char *path,
                         MediaError *error)
{
    const int first = !p->playback;
    const PlaybackOptions options = playback_options(p, first);
    FeedStart start = {.position = AV_NOPTS_VALUE};
    if (has_part(p) && p->options.from_us > 0)
        start.position = p->options.from_us;
    else if (p->options.where && !source->live && !(first && is_part(p)))
        start.position = position_left(p, path, source);
    *next = playback_open(source, &options, &start);
    return *next ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

/* What cannot be played is not opened. */
static int open_first(Player *p, Source *source, const char *path, MediaError *error)
{
    int ret = open_playback(p, &p->playback, source, path, error);
    if (ret >= 0)
        ret = playback_wait(p->playback, error);
    if (ret < 0)
        playback_give_back(&p->playback);
    return ret;
}

/* What is read once only has no other pictures to look at. */
static void preview_file(Player *p)
{
    const Source *source = played(p)->source;
    const int is_file = S_ISREG(source->file.st_mode) && strcmp(p->path, "-") != 0;
    p->pointed.picture = (Canvas){0};
    preview_of(p->preview, is_file && playback_can_seek(p->playback) ? p->path : NULL);
}

/* Its position is told each second. */
static void set_title(Player *p)
{
    char title[PATH_MAX + 96];
    const int64_t position = p->titled * SECOND, duration = playback_duration(p->playback);
    status_title(played(p)->source, p->path, &p->files, position, duration, title, sizeof(title));
    screen_set_title(p->screen, title);
}

static void show_playback(Player *p, const char *path)
{
    snprintf(p->path, sizeof(p->path), "%s", path);
    playback_equalize(p->playback, p->stage);
    playback_set_volume(p->playback, p->wanted.volume, p->wanted.muted);
    subtitle_thread_select(p->subtitles, played(p)->source, played(p)->subtitle);
    p->kept = p->kept_end = 0;
    p->titled = 0;
    set_title(p);
    preview_file(p);
}

static int open_stage(Player *p, MediaError *error)
{
    EqualizeStageOptions options = p->equalizer.stage;
    options.wake = wake;
    options.wake_opaque = p;
    const int ret = equalize_stage_open(&p->stage, &options, error);
    if (ret >= 0)
        equalize_stage_allow_device(p->stage, screen_takes_device(p->screen));
    return ret;
}

static ControlsTarget target(const void *opaque, int x, int y)
{
    return screen_target(((const Player *)opaque)->screen, x, y);
}

static int open_screen(Player *p, const Source *source, MediaError *error)
{
    const ScreenOptions options = {&p->options, p->equalizer.device, p->equalizer.stage.memory,
                                   wake, p};
    const int ret = screen_open(&p->screen, &options, source, error);
    if (ret < 0)
        return ret;
    p->wake_event = SDL_RegisterEvents(1);
    SDL_StartTextInput();
    p->seen = screen_state(p->screen);
    p->controls = (Controls){.target = target, .opaque = p};
    return 0;
}

static int open_showing(Player *p, MediaError *error)
{
    p->showing = showing_create(p->stage, p->screen);
    if (!p->showing)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->shown = showing_shown(p->showing);
    return 0;
}

static int open_all(Player *p, Source *source, const char *path, MediaError *error)
{
    p->pointed.position = -1;
    p->preview = preview_create(&p->options, wake, p);
    p->dialog = file_dialog_create(wake, p);
    p->subtitles = subtitle_thread_create(wake, p);
    if (!p->preview || !p->dialog || !p->subtitles)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    int ret = open_screen(p, source, error);
    if (ret >= 0)
        ret = open_stage(p, error);
    if (ret >= 0)
        ret = open_showing(p, error);
    if (ret >= 0)
        ret = open_first(p, source, path, error);
    if (ret >= 0)
        show_playback(p, path);
    if (ret >= 0 && p->options.greeting)
        screen_say(p->screen, "%s", p->options.greeting);
    return ret;
}

/* The list is taken over. */
static void take_list(Player *p)
{
    p->files = p->dropped = (FileList){.at = -1};
    if (p->options.files) {
        p->files = *p->options.files;
        *p->options.files = (FileList){.at = -1};
    }
    p->dropped.round = p->files.round;
    p->options.files = NULL;
}

int player_open(Player **player, const PlayerOptions *options, const PlayerEqualizer *equalizer,
                Source *source, const char *path, MediaError *error)
{
    Player *p = calloc(1, sizeof(*p));
    *player = p;
    if (!p)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    p->options = *options;
    p->equalizer = *equalizer;
    p->wanted = (Wanted){
        .loop = options->loop,
        .muted = options->mute,
        .volume = options->volume,
        .deinterlace = options->deinterlace,
        .range = options->range,
        .codes = options->codes,
        .from = -1,
        .to = -1,
    };
    take_list(p);
    library_log_take(p->options.detail);
    const int ret = open_all(p, source, path, error);
    if (ret >= 0)
        return ret;
    if (options->files) { /* for another try */
        *options->files = p->files;
        p->files = (FileList){0};
    }
    player_close(player);
    return ret;
}

/* ---- where it is ---- */

/* Seeks add up while the frame of the last one is still to come. */
static int64_t from_where(const Player *p)
{
    const PlaybackState *b = played(p);
    return b->pending && b->start.position != AV_NOPTS_VALUE ? b->start.position
                                                             : p->shown->position;
}

static Situation situation(const Player *p)
{
    return (Situation){
        .options = &p->options,
        .equalizer = &p->equalizer,
        .playback = p->playback,
        .played = played(p),
        .shown = p->shown,
        .screen = p->screen,
        .wanted = &p->wanted,
        .camera = &p->camera,
        .recording = &p->recording,
        .files = &p->files,
        .file = p->next.path[0] && !p->next.waits && !p->dropped.count ? p->next.at : p->files.at,
        .position = from_where(p),
        .at_end = p->ended,
        .equalized = equalize_stage_waiting(p->stage),
        .lost = equalize_stage_is_lost(p->stage),
    };
}

static void go(Player *p, FeedStart start)
{
    p->steps = 0;
    subtitle_thread_reset(p->subtitles);
    playback_start(p->playback, &start);
}

/* Answers 0 where that cannot be. */
static int go_to(Player *p, FeedStart start)
{
    if (!playback_can_seek(p->playback)) {
        screen_say(p->screen, played(p)->source->live ? "A live picture has no past to go to"
                                                      : "This input cannot be searched");
        return 0;
    }
    p->ended = 0;
    go(p, start);
    return 1;
}

static void step_back(Player *p)
{
    (void)go_to(p, (FeedStart){.position = from_where(p), .before = 1});
}

static void say_frame(Player *p)
{
    char text[64];
    status_frame(p->shown->position, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

static void pause_playback(Player *p, int paused)
{
    playback_pause(p->playback, paused, p->shown->position, clock_now());
}

/* ---- files ---- */

/* It is told where it is. */
static void leave_file(const Player *p)
{
    if (p->options.left && p->shown && p->shown->count)
        p->options.left(p->options.opaque, p->path, played(p)->source, from_where(p), p->ended);
}

static FileList *next_list(Player *p)
{
    return p->dropped.count ? &p->dropped : &p->files;
}

static void drop_next(Player *p)
{
    playback_finish(p->playback, &p->next.playback);
    p->next.path[0] = '\0';
}

/* Those that were dropped are the files now. */
static void take_dropped(Player *p)
{
    const int round = p->files.round;
    file_list_clear(&p->files);
    p->files = p->dropped;
    p->dropped = (FileList){.at = -1, .round = round};
    p->options.from_us = p->options.to_us = p->options.frames = -1; /* of those before */
    p->options.keep_open = p->options.keep_dropped;
}

static int replace_playback(Player *p)
{
    LumeqParams params;
    const int ret = p->options.replace(p->options.opaque, &params);
    if (ret < 0)
        return ret;
    leave_file(p);
    showing_drop(p->showing);
    equalize_stage_set(p->stage, &params);
    playback_set_speed(p->next.playback, played(p)->speed, clock_now());
    playback_finish(p->next.playback, &p->playback);
    p->playback = p->next.playback;
    p->next.playback = NULL;
    p->steps = p->steps_back = 0;
    if (p->dropped.count)
        take_dropped(p);
    p->files.at = p->next.at;
    p->wanted.from = p->wanted.to = -1;
    p->ended = 0;
    p->broken = (MediaError){0};
    show_playback(p, p->next.path);
    return 0;
}

static int take_next(Player *p, MediaError *error)
{
    int ret = playback_follow(p->next.playback, error);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (ret >= 0)
        ret = playback_look(p->next.playback, error);
    if (ret == AVERROR_EOF)
        ret = media_fail(error, MEDIA_INPUT, "no frame of it could be decoded");
    else if (ret == AVERROR(EAGAIN))
        ret = clock_now() - p->next.since < FIRST_FRAME_US ? ret : 0;
    if (ret >= 0)
        ret = p->next.waits ? AVERROR(EAGAIN) : replace_playback(p);
    return ret;
}

static int cannot_open(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "Files cannot be opened here");
}

/* AVERROR(EAGAIN): it is being opened, or tried. What cannot be played changes nothing, either. */
static int follow_file(Player *p, MediaError *error)
{
    MediaError why = {0};
    Source *source = NULL;
    int ret = p->next.playback ? 0 : p->options.opened(p->options.opaque, &source, error);
    if (ret < 0)
        return ret;
    if (source) {
        p->next.since = clock_now();
        ret = open_playback(p, &p->next.playback, source, p->next.path, &why);
    }
    if (ret < 0)
        source_close(&source);
    else
        ret = take_next(p, &why);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        media_fail(error, why.fault, "cannot play %s: %s", media_quote(p->next.path), why.text);
    return ret;
}

/* What is said of it stays for a program, too, where a list goes on. */
static void say_failed(Player *p, const char *why)
{
    screen_say(p->screen, "%s", why);
    if (next_list(p)->count > 1)
        p->options.note(why);
}

static int begin_to_open(Player *p, int at, MediaError *error)
{
    const char *path = next_list(p)->entries[at].path;
    snprintf(p->next.path, sizeof(p->next.path), "%s", path);
    return p->options.open ? p->options.open(p->options.opaque, path, error) : cannot_open(error);
}

/* Begins to open a file of the list. What cannot be is said on the screen and passed over, in the
 * direction of `step`; what is shown goes on. */
static void start_file(Player *p, int at, int step, int waits)
{
    FileList *list = next_list(p);
    drop_next(p);
    while (at >= 0 && at != list->at) {
        MediaError why = {0};
        p->next.at = at;
        p->next.step = step;
        p->next.waits = waits;
        if (begin_to_open(p, at, &why) >= 0)
            return;
        say_failed(p, why.text);
        list->entries[at].failed = 1;
        at = file_list_find(list, at, step);
    }
    p->next.path[0] = '\0';
    file_list_clear(&p->dropped);
}

static void take_file(Player *p)
{
    MediaError error = {0};
    FileList *list = next_list(p);
    const Next tried = p->next;
    const int ret = follow_file(p, &error);
    if (ret == AVERROR(EAGAIN))
        return;
    drop_next(p);
    if (ret >= 0)
        return;
    say_failed(p, error.text);
    list->entries[tried.at].failed = 1;
    start_file(p, file_list_find(list, tried.at, tried.step), tried.step, tried.waits);
}

/* One that is opened already takes its turn. */
static void change_file(Player *p, int at, int step)
{
    file_list_clear(&p->dropped);
    if (p->next.path[0] && p->next.playback && p->next.at == at && p->next.waits)
        p->next.waits = 0;
    else
        start_file(p, at, step, 0);
}

/* What is dropped at once is one list, in the place of the one before. */
static void open_files(Player *p, const char *path, int adds)
{
    if (!adds)
        file_list_clear(&p->dropped);
    FileList *list = adds ? next_list(p) : &p->dropped;
    const int ret = p->options.list ? p->options.list(p->options.opaque, path, list)
                                    : file_list_add(list, path, 0);
    if (ret < 0)
        screen_say(p->screen, "out of memory");
    if (adds || !p->dropped.count)
        return;
    start_file(p, 0, 1, 0);
    if (p->dropped.count)
        p->dropped.at = 0; /* what is added comes behind it */
}

/* The one after what is shown, or -1. */
static int following(const Player *p)
{
    const int at = file_list_find(&p->files, p->files.at, 1);
    return at == p->files.at ? -1 : at;
}

/* ---- what the user asks ---- */

/* Where there is no going, that has been said. At its end it runs once there is a frame to begin
 * from. */
static void go_where(Player *p, Intent *intent)
{
    if (!go_to(p, intent->start)) {
        intent->say[0] = '\0';
        return;
    }
    if (!intent->on)
        return;
    p->steps_back = 0;
    pause_playback(p, 0);
}

static void step(Player *p, const Command *command)
{
    if (!played(p)->paused)
        pause_playback(p, 1);
    if (!p->shown->frame)
        return;
    if (!command->arg)
        p->steps++;
    else if (played(p)->pending && played(p)->start.before) /* when that frame is there */
        p->steps_back = command->repeated ? 1 : FFMIN(p->steps_back + 1, MAX_STEPS_BACK);
    else
        step_back(p);
}

static int is_deep_gray(const Player *p)
{
    return code_range_suits(convert_nearest_direct(played(p)->source->video->codecpar->format));
}

/* Frames that are there already are decoded again where their fields or codes are to be taken for
 * something else. */
static void want(Player *p, const Wanted *wanted)
{
    const int stretches_anew = wanted->codes != p->wanted.codes && is_deep_gray(p);
    const int decodes_anew = wanted->deinterlace != p->wanted.deinterlace ||
                             wanted->range != p->wanted.range || stretches_anew;
    const int began_to_repeat = wanted->to >= 0 && p->wanted.to < 0;
    p->wanted = *wanted;
    playback_set_volume(p->playback, wanted->volume, wanted->muted);
    playback_deinterlace(p->playback, wanted->deinterlace);
    playback_set_range(p->playback, wanted->range);
    playback_set_codes(p->playback, wanted->codes);
    if (began_to_repeat)
        (void)go_to(p, (FeedStart){.position = wanted->from});
    else if (decodes_anew && playback_can_seek(p->playback))
        go(p, (FeedStart){.position = from_where(p)}); /* at its end it stays there */
}

/* What is to be seen of the frame may have been lost with a GPU: it comes anew. */
static int set_look(Player *p, const Look *look, MediaError *error)
{
    const int ret = screen_set_look(p->screen, look, p->shown->frame, error);
    if (ret <= 0)
        return ret;
    playback_forget_ahead(p->playback);
    equalize_stage_redo(p->stage);
    return 0;
}

static int select_subtitles(Player *p, const AVStream *track, MediaError *error)
{
    Look look = p->seen->look;
    playback_select_subtitles(p->playback, track);
    subtitle_thread_select(p->subtitles, played(p)->source, track);
    p->kept = 0;
    p->kept_end = playback_subtitles(p->playback)->count;
    look.subtitles_on = 1;
    return set_look(p, &look, error);
}

/* Of the frames to come, of those that wait and of the one that is shown. */
static void set_params(Player *p, const LumeqParams *params, const char *text, int64_t asked_at)
{
    screen_say(p->screen, "%s", text);
    playback_forget_ahead(p->playback);
    equalize_stage_set(p->stage, params);
    if (p->shown->frame && !p->asked_at) {
        p->asked_at = asked_at;
        p->answer_until = clock_now() + ANSWER_US;
    }
}

/* The range and the fields are the decoder's matter. */
static int change_setting(Player *p, const Intent *intent, const Command *command,
                          MediaError *error)
{
    char text[128];
    PlayerSettings settings;
    Wanted wanted = p->wanted;
    const LumeqFrameStats *shown = p->shown->frame ? &p->shown->frame->stats : NULL;
    p->equalizer.change(p->equalizer.opaque, intent->setting, intent->step, shown, &settings, text,
                        sizeof(text));
    set_params(p, &settings.params, text, command->at);
    wanted.range = settings.range;
    wanted.deinterlace = settings.deinterlace;
    wanted.codes = settings.codes;
    want(p, &wanted);
    return set_look(p, &intent->look, error);
}

static int meter(Player *p, Rect part, const Command *command, MediaError *error)
{
    char text[128];
    LumeqParams params;
    Look look = p->seen->look;
    const LumeqRect counted = {part.x, part.y, part.width, part.height};
    p->equalizer.meter(p->equalizer.opaque, counted, &params, text, sizeof(text));
    set_params(p, &params, text, command->at);
    look.mark = (Rect){0};
    return set_look(p, &look, error);
}

static void show_dialog(Player *p)
{
    if (file_dialog_show(p->dialog) < 0)
        screen_say(p->screen, "zenity or kdialog would let you choose: drop a file on the window");
}

static void record(Player *p)
{
    char text[512] = "Only a camera is recorded";
    if (p->options.record && played(p)->source->camera)
        p->options.record(p->options.opaque, played(p)->source, text, sizeof(text));
    screen_say(p->screen, "%s", text);
}

static void write_file(Player *p)
{
    char text[512] = "Nothing can be written here";
    if (p->options.write)
        p->options.write(p->options.opaque, p->path, played(p)->source, text, sizeof(text));
    if (text[0])
        screen_say(p->screen, "%s", text);
}

static void print_command(Player *p)
{
    char text[512] = "There is no command for this";
    char *command = NULL;
    if (p->options.command)
        command =
            p->options.command(p->options.opaque, p->path, played(p)->source, text, sizeof(text));
    const int copied = command && SDL_SetClipboardText(command) == 0;
    if (command)
        snprintf(text, sizeof(text), "Printed%s: %s", copied ? " and copied" : "", command);
    screen_say(p->screen, "%s", text);
    free(command);
}

/* What is being written is given up only by who knows of it. */
static void leave(Player *p, int by_itself)
{
    if (p->writing.on && !by_itself && !p->told_of_writing) {
        p->told_of_writing = 1;
        screen_say(p->screen, "It is still being written; quit again to give it up");
        return;
    }
    screen_quit(p->screen, by_itself);
    p->over = 1;
}

/* ---- what the mouse points to ---- */

static void say_pointed(Player *p)
{
    char line[256];
    const Pointed *at = &p->pointed;
    status_pointed(played(p)->source, at->position, line, sizeof(line));
    screen_point(p->screen, at->x, at->position >= 0 ? line : NULL,
                 at->picture.width > 0 ? &at->picture : NULL);
}

/* What would be there is shown above the bar's track. */
static void point(Player *p, int x, int y)
{
    int width, height;
    const int64_t duration = playback_duration(p->playback);
    const int is_held = p->controls.dragging && p->controls.held == CONTROLS_TRACK;
    const int is_there = is_held || screen_target(p->screen, x, y) == CONTROLS_TRACK;
    const int64_t before = p->pointed.position;
    p->pointed.x = x;
    p->pointed.position =
        is_there ? (int64_t)(screen_track_at(p->screen, x) * (double)duration) : -1;
    if (is_there || before >= 0)
        say_pointed(p);
    screen_preview_size(p->screen, &width, &height);
    if (is_there && width > 0 && height > 0)
        preview_ask(p->preview, p->pointed.position, width, height);
}

/* Until a picture of there has come, the one before stays. */
static void follow_preview(Player *p)
{
    if (preview_take(p->preview, &p->pointed.picture) && p->pointed.position >= 0)
        say_pointed(p);
}

static int carry_out(Player *p, const Command *command, Intent *intent, MediaError *error)
{
    switch (intent->kind) {
    case INTENT_NOTHING: break;
    case INTENT_GO:
        go_where(p, intent);
        if (command->kind == COMMAND_SEEK_TO)
            point(p, command->x, command->y);
        break;
    case INTENT_PAUSE:
        p->steps = p->steps_back = 0;
        pause_playback(p, intent->on);
        break;
    case INTENT_STEP: step(p, command); break;
    case INTENT_SPEED: playback_set_speed(p->playback, intent->speed, clock_now()); break;
    case INTENT_WANT: want(p, &intent->wanted); break;
    case INTENT_LOOK: return set_look(p, &intent->look, error);
    case INTENT_SOUND: playback_select_audio(p->playback, intent->track, from_where(p)); break;
    case INTENT_SUBTITLES: return select_subtitles(p, intent->track, error);
    case INTENT_SETTING: return change_setting(p, intent, command, error);
    case INTENT_POSITION: screen_show_bar(p->screen, clock_now() + POSITION_US); break;
    case INTENT_POINT: point(p, command->x, command->y); break;
    case INTENT_METER: return meter(p, intent->part, command, error);
    case INTENT_FULLSCREEN: screen_toggle_fullscreen(p->screen); break;
    case INTENT_SCREENSHOT: screen_shoot(p->screen, p->path, p->shown->position); break;
    case INTENT_RECORD: record(p); break;
    case INTENT_DIALOG: show_dialog(p); break;
    case INTENT_OPEN: open_files(p, command->path, command->arg); break;
    case INTENT_FILE: change_file(p, intent->file, command->arg); break;
    case INTENT_WRITE: write_file(p); break;
    case INTENT_SCRIPT: print_command(p); break;
    case INTENT_CLOSE: leave(p, intent->on); break;
    }
    return 0;
}

static int follow_command(Player *p, const Command *command, MediaError *error)
{
    const Situation now = situation(p);
    Intent intent = commands_intent(command, &now);
    const int ret = carry_out(p, command, &intent, error);
    p->controls.settings = p->seen->look.settings;
    if (intent.say[0])
        screen_message(p->screen, intent.say, intent.share);
    screen_touch(p->screen);
    return ret;
}

static int follow_user(Player *p, int64_t now, MediaError *error)
{
    Command command;
    int ret = 0;
    while (ret >= 0 && !p->over && controls_next(&p->controls, now, &command))
        ret = follow_command(p, &command, error);
    if (file_dialog_take(p->dialog, command.path, sizeof(command.path)))
        open_files(p, command.path, 0);
    if (p->next.path[0])
        take_file(p);
    screen_show_cursor(p->screen, p->controls.cursor_until, now);
    return ret;
}

/* ---- what is shown ---- */

static void arrive(Player *p)
{
    if (played(p)->start.before)
        say_frame(p);
    if (p->steps_back) {
        p->steps_back--;
        step_back(p);
    }
}

/* Of what is live, the newest frame was the next one. */
static void note_step(Player *p)
{
    if (played(p)->source->live) {
        p->steps = 0;
        return;
    }
    p->steps--;
    say_frame(p);
}

static void end(Player *p)
{
    p->ended = 1;
    const int keeps_open = p->options.keep_open || p->writing.on;
    p->over = played(p)->source->live || !keeps_open || !p->shown->frame;
    if (p->over)
        return;
    pause_playback(p, 1);
    screen_say(p->screen,
               playback_can_seek(p->playback) ? "The end; Space plays it again" : "The end");
}

static int repeats(const Player *p)
{
    return p->wanted.from >= 0 && p->wanted.to >= 0;
}

static void begin_again(Player *p)
{
    p->steps_back = 0;
    go(p, (FeedStart){.position = repeats(p) ? p->wanted.from : FFMAX(p->options.from_us, 0)});
}

/* What is shown comes again from its begin. */
static int comes_again(const Player *p)
{
    return (p->wanted.loop || repeats(p)) && playback_can_seek(p->playback) && !played(p)->pending;
}

/* The only one of a list that begins again. */
static int is_alone(const Player *p)
{
    return p->files.round && playback_can_seek(p->playback) && !played(p)->pending;
}

static void end_or_go_on(Player *p)
{
    const PlaybackState *b = played(p);
    const int is_picture = source_is_still(b->source) && !b->source->live;
    const int at = following(p);
    if (p->next.playback && !p->next.waits) /* that is about to take its place */
        return;
    if (is_picture && p->shown->frame) /* it is to be looked at */
        pause_playback(p, 1);
    else if (comes_again(p))
        begin_again(p);
    else if (p->next.path[0])
        p->next.waits = 0;
    else if (at >= 0)
        start_file(p, at, 1, 0);
    else if (is_alone(p))
        begin_again(p);
    else
        end(p);
}

/* Opens the next file before it is needed, so that it follows without a gap. */
static void look_ahead(Player *p)
{
    const PlaybackState *b = played(p);
    const int64_t duration = playback_duration(p->playback), to = p->options.to_us;
    const int64_t end = to >= 0 && (!duration || to < duration) ? to : duration;
    const int is_near = end > 0 && p->shown->position > end - AHEAD_US;
    if (p->next.path[0] || b->source->live || b->pending || !p->shown->frame || comes_again(p) ||
        source_is_still(b->source) || !(is_near || b->ended))
        return;
    const int at = following(p);
    if (at >= 0)
        start_file(p, at, 1, 1);
}

/* Who has gone beyond what is repeated watches on. */
static void repeat(Player *p)
{
    const int64_t end = p->shown->position + p->shown->duration;
    const int is_inside = p->shown->position >= p->wanted.from && p->shown->position < p->wanted.to;
    if (!repeats(p) || played(p)->pending || played(p)->paused) {
        p->inside = 0;
        return;
    }
    if (end >= p->wanted.to && (is_inside || p->inside)) {
        begin_again(p);
        p->inside = 0;
    } else {
        p->inside = is_inside;
    }
}

/* All of it has been read, and it had no picture. */
static int is_empty(const Player *p)
{
    return !p->shown->frame && !played(p)->source->live && !is_part(p);
}

static int show(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    const int event = showing_run(p->showing, p->playback, p->steps > 0, now, wait, error);
    if (event == SHOWING_ENDED && is_empty(p))
        return media_fail(error, MEDIA_INPUT, "no frame of %s could be decoded",
                          media_quote(p->path));
    if (event == SHOWING_ARRIVED)
        arrive(p);
    else if (event == SHOWING_STEPPED)
        note_step(p);
    else if (event == SHOWING_ENDED)
        end_or_go_on(p);
    repeat(p);
    look_ahead(p);
    if (!p->shown->count && p->shown->frame)
        screen_fit(p->screen, played(p)->source);
    return FFMIN(event, 0);
}

static void write_statistics(Player *p, int64_t now)
{
    StatusRows rows;
    const Situation is = situation(p);
    status_rows(&is, &rows);
    screen_set_statistics(p->screen, rows.rows, rows.count, now);
}

static int64_t time_of_subtitles(Player *p, int64_t now)
{
    const PlaybackState *b = played(p);
    if (b->paused || b->pending || !p->shown->frame || !p->seen->look.subtitles_on)
        return p->shown->position;
    return FFMAX(p->shown->position, playback_time(p->playback, now) - SUBTITLES_BEHIND_US);
}

static int64_t next_of_subtitles(const Player *p)
{
    const PlaybackState *b = played(p);
    return b->ahead && !b->pending ? playback_next(p->playback)->decoded.position : AV_NOPTS_VALUE;
}

/* Of several keys that are answered at once, the first has waited longest. */
static void note_response(Player *p, int64_t now)
{
    if (!p->asked_at || equalize_stage_is_behind(p->stage))
        return;
    delay_note(&p->response, now - p->asked_at);
    p->asked_at = 0;
}

static int64_t held_until(const Player *p)
{
    return p->asked_at && equalize_stage_is_behind(p->stage) ? p->answer_until : 0;
}

static void show_settings(Player *p)
{
    OsdSettings rows = {0};
    if (p->seen->look.settings)
        p->equalizer.list(p->equalizer.opaque, &rows);
    screen_set_settings(p->screen, &rows);
}

/* The bar, and the title. */
static void tell_position(Player *p)
{
    const Situation is = situation(p);
    const int64_t second = is.position / SECOND;
    if (second != p->titled) {
        p->titled = second;
        set_title(p);
    }
    status_bar(&is, &p->bar);
    screen_set_bar(p->screen, &p->bar);
}

static const char *notice(const Player *p)
{
    if (source_is_away(played(p)->source))
        return "connection lost, waiting";
    return p->writing.on ? p->writing.line : p->camera.notice;
}

static int draw(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    char words[128] = "";
    if (p->shown->frame)
        p->equalizer.decided(p->equalizer.opaque, p->shown->frame, words, sizeof(words));
    const ScreenContent content = {
        .frame = p->shown->frame,
        .words = words,
        .fresh = showing_is_due(p->showing, now),
        .held_until = held_until(p),
        .subtitles = p->subtitles,
        .position = time_of_subtitles(p, now),
        .next_position = next_of_subtitles(p),
        .notice = notice(p),
        .recording = p->recording.on ? p->recording.line : NULL,
    };
    if (screen_wants_statistics(p->screen, now))
        write_statistics(p, now);
    tell_position(p);
    show_settings(p);
    const int ret = screen_update(p->screen, &content, now, wait, error);
    if (ret <= 0)
        return ret;
    const int64_t end = clock_now();
    note_response(p, end);
    if (content.fresh) {
        showing_note(p->showing, p->playback, end);
        p->equalizer.shown(p->equalizer.opaque, p->shown->frame,
                           p->seen->upload_us + p->seen->draw_us);
    }
    return 0;
}

/* ---- what comes by itself ---- */

/* Said once for each selection. */
static void note_trouble(Player *p)
{
    const char *trouble = subtitle_thread_trouble(p->subtitles);
    if (trouble && !p->trouble_said) {
        p->options.note(trouble);
        screen_say(p->screen, "%s", trouble);
    }
    p->trouble_said = trouble != NULL;
}

static void say_trouble(Player *p)
{
    char text[320];
    if (!playback_take_trouble(p->playback, text, sizeof(text)))
        return;
    p->options.detail(text);
    screen_say(p->screen, "%s", text);
}

/* Those that were kept before it was selected come first. Negative: there is none now. */
static int next_subtitle(Player *p, AVPacket *packet)
{
    if (p->kept < p->kept_end)
        return av_packet_ref(packet, playback_subtitles(p->playback)->packets[p->kept++]);
    return playback_read_subtitle(p->playback, packet);
}

/* A turn has no more time for them. */
static int take_subtitles(Player *p, int64_t *wait, MediaError *error)
{
    int count = 0;
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const AVStream *shown = played(p)->subtitle;
    while (count < SUBTITLES_A_TURN && !subtitle_thread_is_full(p->subtitles) &&
           next_subtitle(p, packet) >= 0) {
        if (shown && packet->stream_index == shown->index)
            subtitle_thread_packet(p->subtitles, packet);
        av_packet_unref(packet);
        count++;
    }
    av_packet_free(&packet);
    if (count == SUBTITLES_A_TURN)
        *wait = 0;
    note_trouble(p);
    return 0;
}

/* While its threads are stopped and started, nothing is to be had of it. */
static int follow_playback(Player *p, int64_t *wait, MediaError *error)
{
    const int ret = playback_follow(p->playback, error);
    say_trouble(p);
    if (ret < 0 && ret != AVERROR(EAGAIN))
        return ret;
    return played(p)->attached ? take_subtitles(p, wait, error) : 0;
}

static void follow_recording(Player *p)
{
    PlayerRecording *r = &p->recording;
    if (!p->options.recording)
        return;
    *r = (PlayerRecording){0};
    p->options.recording(p->options.opaque, r);
    if (r->message[0])
        screen_say(p->screen, "%s", r->message);
}

static void follow_writing(Player *p)
{
    if (!p->options.writing)
        return;
    p->options.writing(p->options.opaque, &p->writing);
    p->told_of_writing &= p->writing.on;
    if (p->writing.message[0])
        screen_say(p->screen, "%s", p->writing.message);
}

/* ---- the loop ---- */

/* What of a list cannot go on is told of, and the next file takes its place. */
static int pass_over(Player *p, MediaError *error)
{
    const int at = following(p);
    if (error->fault != MEDIA_INPUT || at < 0)
        return error->fault;
    p->broken = *error;
    *error = (MediaError){0};
    say_failed(p, p->broken.text);
    p->files.entries[p->files.at].failed = 1;
    change_file(p, at, 1);
    return 0;
}

static int play(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    if (p->broken.fault)
        return p->next.path[0] ? 0 : media_fail(error, p->broken.fault, "%s", p->broken.text);
    int ret = follow_playback(p, wait, error);
    camera_watch(&p->camera, played(p)->source->camera, p->shown->came, now, p->options.note);
    if (ret >= 0)
        ret = show(p, now, wait, error);
    return ret < 0 ? pass_over(p, error) : 0;
}

static int turn(Player *p, int64_t *wait, MediaError *error)
{
    const int64_t now = clock_now();
    int ret = follow_user(p, now, error);
    screen_follow(p->screen);
    follow_recording(p);
    follow_writing(p);
    follow_preview(p);
    if (ret >= 0)
        ret = play(p, now, wait, error);
    return ret < 0 ? ret : draw(p, now, wait, error);
}

int player_turn(Player *p, MediaError *error)
{
    int64_t wait = TURN_US;
    const int64_t begin = clock_now(), drawn = p->seen->drawing;
    const int ret = turn(p, &wait, error);
    const int64_t took = clock_now() - begin - (p->seen->drawing - drawn);
    p->longest_turn = FFMAX(p->longest_turn, took);
    if (ret < 0)
        return ret;
    if (p->over)
        return 1;
    if (wait >= 1000)
        (void)SDL_WaitEventTimeout(NULL, (int)(wait / 1000));
    else if (wait > 0)
        SDL_Delay(0);
    return 0;
}

PlayerState player_state(const Player *p)
{
    int width, height;
    screen_own_size(p->screen, &width, &height);
    const double share = 1e-3 / (double)FFMAX(p->shown->measured.totals.count, 1);
    return (PlayerState){
        .position = p->shown->position,
        .duration = playback_duration(p->playback),
        .shown = p->shown->count,
        .dropped = playback_dropped(p->playback),
        .late = playback_late(p->playback),
        .lost = p->camera.lost,
        .paused = played(p)->paused,
        .on_gpu = p->shown->frame && gpu_frame_is(p->shown->frame->decoded.frame),
        .muted = p->wanted.muted,
        .volume = p->wanted.volume,
        .fullscreen = screen_is_fullscreen(p->screen),
        .width = width,
        .height = height,
        .loop = p->wanted.loop,
        .speed = played(p)->speed,
        .compare = p->seen->look.compare,
        .histogram = p->seen->look.histogram,
        .scope = p->seen->look.scope,
        .log_scale = p->seen->look.log_scale,
        .statistics = p->seen->look.statistics,
        .help = p->seen->look.help,
        .settings = p->seen->look.settings,
        .chosen = p->seen->look.chosen,
        .at_end = p->ended && !p->over,
        .seeking = played(p)->pending,
        .changing = equalize_stage_is_behind(p->stage),
        .split = p->seen->look.split,
        .offset = p->shown->measured.offset,
        .screenshots = p->seen->screenshots,
        .equalize_ms = p->shown->measured.totals.run * share,
        .upload_ms = p->shown->measured.totals.upload * share,
        .layers_ms = p->shown->measured.totals.layers * share,
        .draw_ms = p->shown->measured.totals.draw * share,
        .latency_frames = p->shown->measured.totals.latency * share * 1e3,
        .delay_ms = delay_mean(&p->shown->measured.delay),
        .delay_95_ms = delay_share(&p->shown->measured.delay, 0.95),
        .delay_most_ms = (double)p->shown->measured.delay.most * 1e-3,
        .responses = p->response.count,
        .response_ms = delay_mean(&p->response),
        .response_95_ms = delay_share(&p->response, 0.95),
        .response_most_ms = (double)p->response.most * 1e-3,
        .longest_turn_ms = (double)p->longest_turn * 1e-3,
        .rate = p->shown->measured.rate,
        .gone = p->camera.gone || source_is_away(played(p)->source),
        .damaged = p->camera.damaged,
        .recording = p->recording.on,
        .mirrored = p->seen->look.mirrored,
        .message = p->seen->message,
        .file = p->files.at + 1,
        .files = p->files.count,
    };
}

int player_damage(Player *p, char *text, size_t size)
{
    const int damaged = playback_damage(p->playback, p->ended, text, size);
    const int64_t gone = equalize_stage_gone(p->stage);
    const size_t length = damaged ? strlen(text) : 0;
    if (gone)
        snprintf(text + length, size - length, "%s%" PRId64 " frame%s lost with the GPU",
                 length ? "; " : "", gone, gone == 1 ? " was" : "s were");
    return damaged || gone;
}

int player_has_ended(const Player *p)
{
    return p->ended;
}

uint8_t *player_grab(Player *p, int *width, int *height)
{
    return screen_grab(p->screen, width, height);
}

void player_close(Player **player)
{
    Player *p = *player;
    if (!p)
        return;
    if (p->playback)
        leave_file(p);
    if (p->stage)
        equalize_stage_stop(p->stage);
    file_dialog_free(&p->dialog);
    preview_free(&p->preview);
    showing_free(&p->showing);
    playback_close(&p->next.playback);
    playback_close(&p->playback);
    subtitle_thread_free(&p->subtitles);
    screen_close(&p->screen);
    file_list_clear(&p->files);
    file_list_clear(&p->dropped);
    equalize_stage_close(&p->stage); /* whose memory the screen's last frame lay in */
    free(p);
    *player = NULL;
}
