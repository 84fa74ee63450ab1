/* What the parts of the fake camera share; see fake_camera.c. All with its lock held. */
#ifndef LUMEQ_TESTS_FAKE_PARTS_H
#define LUMEQ_TESTS_FAKE_PARTS_H

#include <stdint.h>

/* ---- what is said of it (fake_words.c) ---- */

/* A variable of the environment, or `otherwise` where it is not set. */
const char *fake_setting(const char *name, const char *otherwise);

/* Looks at the words anew. */
void fake_read_words(void);

int fake_is(const char *word);

/* What follows the word, as in "rate=", up to the next blank, or NULL where it is not there. */
const char *fake_after(const char *word);

/* How far the wall clock was set ahead, in microseconds. Also without the lock. */
int64_t fake_wall_ahead(void);

/* Whether a text begins with this word. */
int fake_word_is(const char *text, const char *word);

/* ---- what it does (fake_device.c) ---- */

/* Sets errno and answers -1. */
int fake_fail(int error);

/* The monotonic clock, microseconds. Also without the lock. */
int64_t fake_now(void);

/* Takes its modes from the environment, anew where a test has set others. */
void fake_get_ready(void);

/* Does what ioctl() asks for: 0, or -1 with errno. */
int fake_answer(int fd, unsigned long ask, void *argument);

/* What poll() answers of it: 0 where nothing has happened, and *next is when a frame may be there.
 */
short fake_events(int64_t *next);

/* The descriptor is about to be closed. */
void fake_closed(int fd);

#endif
