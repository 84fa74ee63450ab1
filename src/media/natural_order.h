/* Natural sorting: numbers in names count by their value. */
#ifndef LUMEQ_MEDIA_NATURAL_ORDER_H
#define LUMEQ_MEDIA_NATURAL_ORDER_H

/* Like strcmp(), but "part 2" comes before "part 10". Different names are never equal. */
int natural_order(const char *a, const char *b);

#endif
