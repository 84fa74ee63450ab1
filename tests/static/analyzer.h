/* Included first in each file that clang-tidy reads. The analyzer sees one file at a time. These
 * macros show it that functions return less than 0 after they have reported an error. */
#include "equalizer/last_error.h"
#include "job/part_files.h"
#include "media/error.h"

#define media_fail(error, fault, ...) (media_fail(error, fault, __VA_ARGS__), (fault))
#define media_no_memory(error, fault) (media_no_memory(error, fault), (fault))
#define record_file_fail(file, why, error) (record_file_fail(file, why, error), MEDIA_INPUT)
#define lumeq_refuse_with(error, ...) (lumeq_refuse_with(error, __VA_ARGS__), (error))
