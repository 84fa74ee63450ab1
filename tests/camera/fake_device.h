/* The fake camera's device; see fake_camera.c. Call with the lock of fake_camera.c held. */
#ifndef LUMEQ_TESTS_FAKE_DEVICE_H
#define LUMEQ_TESTS_FAKE_DEVICE_H

#include <stdint.h>

/* Sets errno and returns -1. */
int fake_fail(int error);

/* The monotonic clock in microseconds. Needs no lock. */
int64_t fake_now(void);

/* Reads FAKE_CAMERA_MODES if it has changed. */
void fake_get_ready(void);

/* Handles an ioctl(). Returns 0, or -1 with errno. */
int fake_answer(int fd, unsigned long ask, void *argument);

/* Returns the camera's events for poll(). If 0, sets *next to the time of the next frame. */
short fake_events(int64_t *next);

/* Call before a descriptor of the camera is closed. */
void fake_closed(int fd);

#endif
