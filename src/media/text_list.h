/* A list of texts that it owns, NULL at the end: the arguments of a program. {0} is empty. */
#ifndef LUMEQ_MEDIA_TEXT_LIST_H
#define LUMEQ_MEDIA_TEXT_LIST_H

typedef struct TextList {
    char **all; /* NULL: none was ever added */
    int count;
} TextList;

/* Adds a copy. `list`: a TextList, so that this is a callback. Returns 0, or -1: out of memory. */
int text_list_add(void *list, const char *text);

int text_list_print(TextList *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_list_free(TextList *list);

#endif
