/* A progress counter for the watchdog. */
#ifndef LUMEQ_MEDIA_ACTIVITY_H
#define LUMEQ_MEDIA_ACTIVITY_H

/* Call after a frame, a packet or a chunk of a file was processed. Any thread. */
void activity_note(void);

/* The number of calls so far; wraps around. Async-signal-safe. */
unsigned activity_count(void);

#endif
