/* Whether anything still moves, for a watchdog. */
#ifndef LUMEQ_MEDIA_ACTIVITY_H
#define LUMEQ_MEDIA_ACTIVITY_H

/* A frame, a packet or a piece of a file has gone on to the next stage. Any thread. */
void activity_note(void);

/* The number of notes so far; it wraps around. Async-signal-safe. */
unsigned activity_count(void);

#endif
