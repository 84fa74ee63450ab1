/* The sentence that lumeq_last_error(NULL) answers: one for each thread. */
#ifndef LUMEQ_LAST_ERROR_H
#define LUMEQ_LAST_ERROR_H

#define LUMEQ_ERROR_SIZE 256

/* Leaves the sentence for lumeq_last_error(NULL) in this thread; the first answers ARGUMENT, the
 * other the error. */
__attribute__((format(printf, 1, 2))) int lumeq_refuse(const char *format, ...);
__attribute__((format(printf, 2, 3))) int lumeq_refuse_with(int error, const char *format, ...);

/* Where that sentence is: LUMEQ_ERROR_SIZE bytes of this thread. */
char *lumeq_error_text(void);

#endif
