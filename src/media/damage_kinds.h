/* Kinds of damage of an input: the table is in damage_kinds.c. */
#ifndef LUMEQ_MEDIA_DAMAGE_KINDS_H
#define LUMEQ_MEDIA_DAMAGE_KINDS_H

/* Returns 1 if an error that FFmpeg logs about an input tells nothing of its pictures. */
int damage_is_harmless(const char *line);

#endif
