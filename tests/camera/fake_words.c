#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_words.h"

static char words[512];

const char *fake_setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

void fake_read_words(void)
{
    const char *control = getenv("FAKE_CAMERA_CONTROL");
    const int fd = control ? open(control, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = -1;
    if (fd >= 0) {
        n = read(fd, words, sizeof(words) - 1);
        close(fd);
    }
    if (n >= 0)
        words[n] = '\0';
    else
        snprintf(words, sizeof(words), "%s", fake_setting("FAKE_CAMERA_STATE", ""));
}

const char *fake_after(const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at++)
        if ((at == words || at[-1] <= ' ') && (word[length - 1] == '=' || at[length] <= ' '))
            return at + length;
    return NULL;
}

int fake_is(const char *word)
{
    return fake_after(word) != NULL;
}

int fake_word_is(const char *text, const char *word)
{
    const size_t length = strcspn(text, " \t\n");
    return strlen(word) == length && strncmp(text, word, length) == 0;
}
