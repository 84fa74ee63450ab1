/* The text of the last error: one sentence per thread, for lumeq_last_error(NULL). */
#ifndef LUMEQ_LAST_ERROR_H
#define LUMEQ_LAST_ERROR_H

#define LUMEQ_ERROR_SIZE 256

/* Stores the sentence for this thread, and returns the error. */
__attribute__((format(printf, 2, 3))) int lumeq_refuse_with(int error, const char *format, ...);

#define lumeq_refuse(...) lumeq_refuse_with(LUMEQ_ERR_ARGUMENT, __VA_ARGS__)
#define lumeq_no_memory() lumeq_refuse_with(LUMEQ_ERR_MEMORY, "out of memory")

/* Returns this thread's buffer for the sentence, of LUMEQ_ERROR_SIZE bytes. */
char *lumeq_error_text(void);

#endif
