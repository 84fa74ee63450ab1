/* A NULL-terminated list that owns its strings, such as program arguments. {0} is empty. */
#ifndef LUMEQ_MEDIA_TEXT_LIST_H
#define LUMEQ_MEDIA_TEXT_LIST_H

typedef struct TextList {
    char **all; /* NULL if nothing was added */
    int count;
} TextList;

/* Adds a copy. `list` is a TextList; void * makes this usable as a callback. Returns 0, or -1 if
 * out of memory. */
int text_list_add(void *list, const char *text);

/* Returns a formatted text, which the caller frees; NULL: out of memory. */
char *text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds a formatted text. Returns 0, or -1 if out of memory. */
int text_list_print(TextList *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_list_free(TextList *list);

#endif
