/* What the fake virtual camera does; see fake_camera.c. With the lock of that. */
#ifndef LUMEQ_TESTS_FAKE_OUTPUT_H
#define LUMEQ_TESTS_FAKE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Does what ioctl() asks for: 0, or -1 with errno. */
int fake_output_answer(unsigned long ask, void *argument);

/* What write() does. */
ssize_t fake_output_write(const void *data, size_t size);

/* The camera has handed out its frame `number`, captured at `time`: to be found among what is
 * written. */
void fake_output_note_captured(unsigned number, int64_t time);

#endif
