#include "media/input/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>

static bool is_letter(char c)
{
    return av_tolower(c) >= 'a' && av_tolower(c) <= 'z';
}

size_t url_scheme_length(const char *name)
{
    size_t n = 0;
    while (is_letter(name[n]) ||
           (n && (av_isdigit(name[n]) || (name[n] && strchr("+.-", name[n])))))
        n++;
    return strncmp(name + n, "://", 3) == 0 ? n : 0;
}

/* The last @ in a text, or NULL. */
static const char *find_at(const char *text, size_t length)
{
    while (length && text[length - 1] != '@')
        length--;
    return length ? text + length - 1 : NULL;
}

/* Returns the authority: user, password, host and port. Unless the text after a colon is a port, it
 * is a password, which may contain characters that otherwise end the authority. */
static const char *find_authority(const char *url, size_t *length)
{
    const char *authority = url + url_scheme_length(url) + 3, *other = strstr(authority, "://");
    const char *at = find_at(authority, other ? (size_t)(other - authority) : strlen(authority));
    *length = strcspn(authority, "/?# ");
    const char *colon = memchr(authority, ':', *length);
    if (at && colon && at > authority + *length &&
        colon + 1 + strspn(colon + 1, "0123456789") < authority + *length)
        *length = (size_t)(at - authority) + strcspn(at, "/?# ");
    return authority;
}

size_t url_secret(const char *url, size_t from, size_t *start)
{
    size_t length;
    if (!url_scheme_length(url))
        return 0;
    const char *authority = find_authority(url, &length), *at = find_at(authority, length);
    *start = (size_t)(authority - url);
    if (at && at > authority && from <= *start)
        return (size_t)(at - authority);
    /* In RTMP URLs, text after a blank also holds secrets. */
    const size_t rest = *start + length, query = rest + strcspn(url + rest, "?# ");
    *start = query + 1;
    return url[query] && from <= *start ? strlen(url + *start) : 0;
}

bool url_has_user(const char *url)
{
    size_t length;
    const char *authority = find_authority(url, &length), *at = find_at(authority, length);
    return url_scheme_length(url) && at && at > authority;
}

char *url_add_password(const char *url, const char *password)
{
    size_t length;
    const char *authority = find_authority(url, &length), *at = find_at(authority, length);
    if (!url_has_user(url) || memchr(authority, ':', (size_t)(at - authority)))
        return NULL;
    const size_t size = strlen(url) + 3 * strlen(password) + sizeof(":");
    const bool is_plain = av_strncasecmp(url, "rtmp", 4) == 0; /* FFmpeg decodes no %XX here */
    char *whole = malloc(size);
    int n = whole ? snprintf(whole, size, "%.*s:", (int)(at - url), url) : 0;
    for (const char *c = password; whole && *c; c++)
        n += snprintf(whole + n, size - (size_t)n,
                      is_plain || is_letter(*c) || av_isdigit(*c) ? "%c" : "%%%02X",
                      (unsigned char)*c);
    if (whole)
        snprintf(whole + n, size - (size_t)n, "%s", at);
    return whole;
}

void url_file_name(const char *url, char *name, size_t size)
{
    size_t length, n = 0;
    const char *authority = find_authority(url, &length), *at = find_at(authority, length);
    const char *end = authority + length + strcspn(authority + length, "?# "), *begin = end;
    while (begin > authority + length && begin[-1] != '/')
        begin--;
    if (begin == end) {
        begin = at ? at + 1 : authority;
        end = authority + length;
    }
    begin += strspn(begin, ".-"); /* a '.' would hide the file, a '-' would make it an option */
    for (; begin < end && n + 1 < size; begin += *begin == '%' && end - begin >= 3 ? 3 : 1) {
        const int plain =
            is_letter(*begin) || av_isdigit(*begin) || strchr("._-", *begin) || *begin & 0x80;
        name[n++] = plain ? *begin : '_';
    }
    name[n] = '\0';
    if (!n)
        snprintf(name, size, "lumeq");
}
