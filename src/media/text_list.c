#include "media/text_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes ownership of `text`, which may be NULL. */
static int take(TextList *list, char *text)
{
    char **all = text ? realloc(list->all, ((size_t)list->count + 2) * sizeof(*all)) : NULL;
    if (!all) {
        free(text);
        return -1;
    }
    list->all = all;
    all[list->count++] = text;
    all[list->count] = NULL;
    return 0;
}

char *text_print(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    return n < 0 ? NULL : text;
}

int text_list_add(void *list, const char *text)
{
    return take(list, strdup(text));
}

int text_list_print(TextList *list, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    return take(list, n < 0 ? NULL : text);
}

void text_list_free(TextList *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->all[i]);
    free(list->all);
    *list = (TextList){0};
}
