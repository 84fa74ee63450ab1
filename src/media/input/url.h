/* Handles URLs as text: finds secrets, adds passwords, and derives file names. */
#ifndef LUMEQ_MEDIA_URL_H
#define LUMEQ_MEDIA_URL_H

#include <stdbool.h>
#include <stddef.h>

/* Length of "SCHEME" in "SCHEME://...", or 0 if it is not a URL. */
size_t url_scheme_length(const char *name);

/* Finds the first secret that begins at byte `from` or later: user and password, or a query, which
 * may hold a key. Returns its length and sets *at to its position; 0: no secret. */
size_t url_secret(const char *url, size_t from, size_t *at);

bool url_has_user(const char *url);

/* Returns a copy of the URL with a password for its user; the caller frees the copy. NULL: the URL
 * has no user, or already has a password; or out of memory. */
char *url_add_password(const char *url, const char *password);

/* Derives a name for files and titles from the last part of the URL's path, or from the host.
 * Replaces ASCII characters except letters, digits, '.' and '-' by '_'. Falls back to "lumeq". */
void url_file_name(const char *url, char *name, size_t size);

#endif
