/* What the fake camera does; see fake_camera.c. With its lock held. */
#ifndef LUMEQ_TESTS_FAKE_DEVICE_H
#define LUMEQ_TESTS_FAKE_DEVICE_H

#include <stdint.h>

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
