#include "equalizer/last_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "lumeq/lumeq.h"

static _Thread_local char error_text[LUMEQ_ERROR_SIZE];

char *lumeq_error_text(void)
{
    return error_text;
}

int lumeq_refuse_with(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof(error_text), format, args);
    va_end(args);
    return error;
}
