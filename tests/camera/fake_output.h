/* The fake virtual camera; see fake_camera.c. Callers hold the camera's lock. */
#ifndef LUMEQ_TESTS_FAKE_OUTPUT_H
#define LUMEQ_TESTS_FAKE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Handles an ioctl(). Returns 0, or -1 with errno. */
int fake_output_answer(unsigned long ask, void *argument);

/* Handles a write(). */
ssize_t fake_output_write(const void *data, size_t size);

/* Logs that the camera has delivered frame `number`, captured at `time`. */
void fake_output_note_captured(unsigned number, int64_t time);

#endif
