/* Names that are URLs, as texts: what of them may be shown, and what of them can name a file. */
#ifndef LUMEQ_MEDIA_URL_H
#define LUMEQ_MEDIA_URL_H

#include <stddef.h>

/* Bytes of "SCHEME" in "SCHEME://...", or 0: it is no URL. */
size_t url_scheme_length(const char *name);

/* What has to stay secret in it: the bytes from `*at` on, user and password, or a query, which may
 * hold a key. Answers their number, or 0 when there are none from `from` on. */
size_t url_secret(const char *url, size_t from, size_t *at);

/* A name for files and titles, without folders: the last part of its path, or its host, as far as
 * that is letters, digits, '.', '_' and '-'; "lumeq" where nothing is left. */
void url_file_name(const char *url, char *name, size_t size);

#endif
