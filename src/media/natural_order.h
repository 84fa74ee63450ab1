/* The order that people expect of names: numbers in them count by their value. */
#ifndef LUMEQ_MEDIA_NATURAL_ORDER_H
#define LUMEQ_MEDIA_NATURAL_ORDER_H

struct dirent;

/* As strcmp(): "part 2" comes before "part 10". Different names are never equal. */
int natural_order(const char *a, const char *b);

/* The same of entries of a folder, for scandir(). */
int natural_order_entries(const struct dirent **a, const struct dirent **b);

#endif
