/* What the user asked for, as intents: each command becomes one, by how the player is now. Nothing
 * is changed here; the loop alone (player.c) carries intents out. */
#ifndef LUMEQ_PLAYER_COMMANDS_H
#define LUMEQ_PLAYER_COMMANDS_H

#include "player/controls.h"
#include "player/situation.h"

typedef enum IntentKind {
    INTENT_NOTHING = 0, /* but what is said */
    INTENT_GO,          /* elsewhere: `start`; `on`: and play from there */
    INTENT_PAUSE,       /* `on`, or play */
    INTENT_STEP,        /* as the command says */
    INTENT_SPEED,       /* `speed` */
    INTENT_WANT,        /* `wanted` */
    INTENT_LOOK,        /* `look` */
    INTENT_SOUND,       /* `track`; NULL: none */
    INTENT_SUBTITLES,   /* the same */
    INTENT_SETTING,     /* `setting` by `step`, and `look` */
    INTENT_METER,       /* `part` of the picture counts; without a width: all of it */
    INTENT_POSITION,    /* shows where it is */
    INTENT_POINT,       /* the mouse is somewhere else */
    INTENT_FULLSCREEN,  /* or not any more */
    INTENT_SCREENSHOT,
    INTENT_RECORD,
    INTENT_WRITE,
    INTENT_SCRIPT,
    INTENT_OPEN, /* the command's file */
    INTENT_FILE, /* `file` of the list, in the command's direction */
    INTENT_DIALOG,
    INTENT_CLOSE, /* the window; `on`: by something else than the user */
} IntentKind;

typedef struct Intent {
    IntentKind kind;
    int on;
    FeedStart start;
    double speed;
    Wanted wanted;
    Look look;
    const AVStream *track;
    PlayerSetting setting;
    int step;
    Rect part;
    int file;
    char say[512]; /* in the window, once it is carried out; "": nothing */
    double share;  /* as in screen_message() */
} Intent;

Intent commands_intent(const Command *command, const Situation *now);

#endif
