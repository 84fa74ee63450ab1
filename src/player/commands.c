#include "player/commands.h"

#include <stdio.h>

#include <SDL.h>

#include "media/input/track_choice.h"
#include "player/status.h"

#define SECOND INT64_C(1000000)
#define SPEED_RATIO 1.1
#define VOLUME_STEP 5

static void say(Intent *i, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Intent *i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(i->say, sizeof(i->say), format, args);
    va_end(args);
}

/* ---- time ---- */

static void toggle_pause(const Situation *now, Intent *i)
{
    i->on = now->at_end || !now->playback->paused;
    i->kind = now->at_end ? INTENT_GO : INTENT_PAUSE;
    i->start.position = SDL_max(now->options->from_us, 0);
    say(i, now->at_end || !i->on ? "Playing" : "Paused");
}

static void seek_by(const Situation *now, int seconds, Intent *i)
{
    const int64_t duration = playback_duration(now->playback), end = now->options->to_us;
    int64_t to = now->position + seconds * SECOND;
    if (duration > 0 && to > duration)
        to = duration;
    if (end >= 0 && to >= end)
        to = end - 1;
    if (to < 0)
        to = 0;
    i->kind = INTENT_GO;
    i->start = (FeedStart){.position = to, .preview = 1};
    status_position(to, duration, i->say, sizeof(i->say));
    i->share = duration > 0 ? (double)to / (double)duration : -1;
}

static void change_speed(const Situation *now, int step, Intent *i)
{
    const double before = now->playback->speed;
    double speed = 1;
    if (now->playback->source->live) {
        say(i, "A live picture has its own speed");
        return;
    }
    if (step)
        speed = step > 0 ? before * SPEED_RATIO : before / SPEED_RATIO;
    if (speed > 0.96 && speed < 1.04) /* back to 1 after as many steps up as down */
        speed = 1;
    i->kind = INTENT_SPEED;
    i->speed = SDL_clamp(speed, PLAYER_MIN_SPEED, PLAYER_MAX_SPEED);
    say(i, "Speed: %.2f", i->speed);
}

static void toggle_loop(const Situation *now, Intent *i)
{
    if (now->playback->source->live) {
        say(i, "A live picture has no end to begin again from");
        return;
    }
    i->kind = INTENT_WANT;
    i->wanted.loop = !i->wanted.loop;
    say(i, "Loop: %s", i->wanted.loop ? "on" : "off");
}

static void next_deinterlace(Intent *i)
{
    static const char *const names[] = {"off", "where frames are interlaced", "all frames"};
    i->kind = INTENT_WANT;
    i->wanted.deinterlace = (DeinterlaceMode)((i->wanted.deinterlace + 1) % 3);
    say(i, "Deinterlace: %s", names[i->wanted.deinterlace]);
}

/* ---- sound and tracks ---- */

static void change_volume(int volume, int muted, Intent *i)
{
    i->kind = INTENT_WANT;
    i->wanted.volume = SDL_clamp(volume, 0, PLAYER_MAX_VOLUME);
    i->wanted.muted = muted;
    say(i, "Volume: %d %%%s", i->wanted.volume, muted ? " (muted)" : "");
}

/* The one after `before` among its kind; after the last one, none. */
static void next_track(const Situation *now, IntentKind kind, enum AVMediaType type,
                       const AVStream *before, Intent *i)
{
    const Source *source = now->playback->source;
    const int after = before ? source_track_number(source, before) + 1 : 0;
    const char *name = type == AVMEDIA_TYPE_AUDIO ? "Sound" : "Subtitles";
    char text[256] = "none";
    i->kind = kind;
    i->track = track_find(source, type, after);
    if (i->track)
        track_describe(source, i->track, text, sizeof(text));
    say(i, "%s: %s", name, before || i->track ? text : "there is none");
}

static void next_sound(const Situation *now, Intent *i)
{
    const AVStream *before = now->playback->sound;
    next_track(now, INTENT_SOUND, AVMEDIA_TYPE_AUDIO, before, i);
    if (!before && !i->track)
        i->kind = INTENT_NOTHING;
    else if (!playback_can_seek(now->playback)) {
        i->kind = INTENT_NOTHING;
        say(i, "The sound of this input cannot be changed");
    }
}

/* ---- what is seen ---- */

static void change_look(const Command *command, const Situation *now, Intent *i)
{
    static const PlayerHistogram next[] = {PLAYER_HISTOGRAM_PANEL, PLAYER_HISTOGRAM_OVERLAY,
                                           PLAYER_HISTOGRAM_OFF};
    Look *look = &i->look;
    i->kind = INTENT_LOOK;
    switch (command->kind) {
    case COMMAND_COMPARE: look->compare = (PlayerCompare)((look->compare + 1) % 3); break;
    case COMMAND_HISTOGRAM: look->histogram = next[look->histogram]; break;
    case COMMAND_SCALE: look->log_scale = !look->log_scale; break;
    case COMMAND_MIRROR: look->mirrored = !look->mirrored; break;
    case COMMAND_STATISTICS: look->statistics = !look->statistics; break;
    case COMMAND_HELP: look->help = !look->help; break;
    case COMMAND_SUBTITLES: look->subtitles_on = !look->subtitles_on; break;
    default: look->split = screen_split_at(now->screen, command->x, command->y); break;
    }
}

static void change_setting(PlayerSetting setting, Intent *i)
{
    i->kind = INTENT_SETTING;
    i->setting = setting;
}

static void escape(const Situation *now, Intent *i)
{
    i->kind = screen_is_fullscreen(now->screen) ? INTENT_FULLSCREEN : INTENT_CLOSE;
}

Intent commands_intent(const Command *command, const Situation *now)
{
    const Wanted *wanted = now->wanted;
    const int arg = command->arg;
    Intent i = {.wanted = *wanted, .look = screen_state(now->screen)->look, .share = -1};
    switch (command->kind) {
    case COMMAND_PAUSE: toggle_pause(now, &i); break;
    case COMMAND_SEEK: seek_by(now, arg, &i); break;
    case COMMAND_STEP: i.kind = INTENT_STEP; break;
    case COMMAND_SPEED: change_speed(now, arg, &i); break;
    case COMMAND_LOOP: toggle_loop(now, &i); break;
    case COMMAND_VOLUME:
        change_volume(wanted->volume + arg * VOLUME_STEP, wanted->muted, &i);
        break;
    case COMMAND_MUTE: change_volume(wanted->volume, !wanted->muted, &i); break;
    case COMMAND_NEXT_SOUND: next_sound(now, &i); break;
    case COMMAND_NEXT_SUBTITLES:
        next_track(now, INTENT_SUBTITLES, AVMEDIA_TYPE_SUBTITLE, now->playback->subtitle, &i);
        break;
    case COMMAND_EQUALIZER: change_setting(PLAYER_ON_OFF, &i); break;
    case COMMAND_STRENGTH: change_setting(PLAYER_STRENGTH, &i); break;
    case COMMAND_CLIP: change_setting(PLAYER_CLIP, &i); break;
    case COMMAND_SMOOTH: change_setting(PLAYER_SMOOTH, &i); break;
    case COMMAND_BRIGHTNESS: change_setting(PLAYER_BRIGHTNESS, &i); break;
    case COMMAND_GAMMA: change_setting(PLAYER_GAMMA, &i); break;
    case COMMAND_RESET: change_setting(PLAYER_RESET, &i); break;
    case COMMAND_COMPARE:
    case COMMAND_HISTOGRAM:
    case COMMAND_SCALE:
    case COMMAND_MIRROR:
    case COMMAND_STATISTICS:
    case COMMAND_HELP:
    case COMMAND_SUBTITLES:
    case COMMAND_SPLIT: change_look(command, now, &i); break;
    case COMMAND_DEINTERLACE: next_deinterlace(&i); break;
    case COMMAND_FULLSCREEN: i.kind = INTENT_FULLSCREEN; break;
    case COMMAND_SCREENSHOT: i.kind = INTENT_SCREENSHOT; break;
    case COMMAND_RECORD: i.kind = INTENT_RECORD; break;
    case COMMAND_OPEN: i.kind = INTENT_OPEN; break;
    case COMMAND_ESCAPE: escape(now, &i); break;
    case COMMAND_QUIT:
    case COMMAND_CLOSE:
        i.kind = INTENT_CLOSE;
        i.on = arg;
        break;
    case COMMAND_REDRAW:
    case COMMAND_KINDS: break;
    }
    return i;
}
