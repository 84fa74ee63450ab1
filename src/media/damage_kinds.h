/* Kinds of input damage; damage_kinds.c has the table. */
#ifndef LUMEQ_MEDIA_DAMAGE_KINDS_H
#define LUMEQ_MEDIA_DAMAGE_KINDS_H

/* Returns 1 if this logged error does not affect the pictures. */
int damage_is_harmless(const char *line);

#endif
