/* Escapes foreign text for messages, and quotes names. */
#include <string.h>

#include "check.h"
#include "media/error.h"
#include "media/printable.h"

static void check_shown(const char *text, const char *right)
{
    char shown[256];
    printable(shown, sizeof(shown), text);
    CHECK(strcmp(shown, right) == 0, "'%s' instead of '%s'", shown, right);
}

TEST(controls_are_escaped)
{
    check_shown("plain, \\ and 'quoted'", "plain, \\ and 'quoted'");
    check_shown("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xac", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\xac");
    check_shown("two\nlines\r\t", "two\\nlines\\x0d\\x09");
    check_shown("\x1b[31m\x1b]0;title\a\x7f", "\\x1b[31m\\x1b]0;title\\x07\\x7f");
    check_shown("\xc2\x9b"
                "31m\xc2\x80\xc2\x9f\xc2\xa0",
                "\\u009b31m\\u0080\\u009f\xc2\xa0");
    check_shown("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f");
    check_shown("\xe2\x80\xa8\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
                "\\u2028\\u202a\\u202e\xe2\x80\xaf");
    check_shown("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
                "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa");
}

/* Stray bytes, overlong forms, surrogates, codes beyond U+10FFFF, truncated sequences. */
TEST(invalid_bytes_are_escaped)
{
    check_shown("\x9b"
                "31m\xff\xe4",
                "\\x9b31m\\xff\\xe4");
    check_shown("\xc0\x9b\xc1\xbf", "\\xc0\\x9b\\xc1\\xbf");
    check_shown("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
    check_shown("\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b");
    check_shown("\xed\xa0\x80", "\\xed\\xa0\\x80");
    check_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    check_shown("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
    check_shown("\xe2\x82", "\\xe2\\x82");
    check_shown("\xe2\x1b[", "\\xe2\\x1b[");
}

TEST(long_text_is_cut)
{
    char shown[12];
    memset(shown, 'x', sizeof(shown));
    printable(shown, 8, "abcd\x1b[");
    CHECK(strcmp(shown, "abcd") == 0, "'%s'", shown);
    printable(shown, 9, "abcd\x1b[");
    CHECK(strcmp(shown, "abcd\\x1b") == 0, "'%s'", shown);
    CHECK(shown[10] == 'x', "the text exceeds its size");
}

/* Several quoted names can be used in one statement; long names end in dots. */
TEST(names_are_quoted)
{
    char all[4 * MEDIA_QUOTED], name[2 * MEDIA_QUOTED];
    snprintf(all, sizeof(all), "%s %s %s %s", media_quote("a"), media_quote("b\xc2\x9b"),
             media_quote("c\n"), media_quote("http://u:p@host/d?key"));
    CHECK(strcmp(all, "'a' 'b\\u009b' 'c\\n' 'http://...@host/d?...'") == 0, "%s", all);
    for (size_t n = MEDIA_QUOTED - 30; n < MEDIA_QUOTED + 10; n++) {
        memset(name, 'x', n);
        strcpy(name + n, "\xe2\x80\xae\x1b\x1b\x1b\x1b");
        const char *quoted = media_quote(name);
        const size_t length = strlen(quoted);
        CHECK(length < MEDIA_QUOTED && quoted[length - 1] == '\'', "%zu: '%s'", n, quoted);
        CHECK(length < n + 32 ? strcmp(quoted + length - 4, "...'") == 0 : 1, "%zu: '%s'", n,
              quoted);
    }
}

TEST_MAIN
