/* The text of the last error: one sentence per thread, for lumeq_last_error(NULL). */
#ifndef LUMEQ_LAST_ERROR_H
#define LUMEQ_LAST_ERROR_H

#define LUMEQ_ERROR_SIZE 256

/* Stores the sentence for this thread. lumeq_refuse() returns ARGUMENT, lumeq_refuse_with() the
 * error. */
__attribute__((format(printf, 1, 2))) int lumeq_refuse(const char *format, ...);
__attribute__((format(printf, 2, 3))) int lumeq_refuse_with(int error, const char *format, ...);

/* The buffer of that sentence: LUMEQ_ERROR_SIZE bytes of this thread. */
char *lumeq_error_text(void);

#endif
