/* The words that set the fake camera's state; see fake_camera.c. Call with its lock held. */
#ifndef LUMEQ_TESTS_FAKE_WORDS_H
#define LUMEQ_TESTS_FAKE_WORDS_H

/* A variable of the environment, or `otherwise` if it is not set. */
const char *fake_setting(const char *name, const char *otherwise);

void fake_read_words(void);

/* True if the state contains this word. */
int fake_is(const char *word);

/* The text after a word that ends in "=", such as "rate="; NULL if the state lacks this word. */
const char *fake_after(const char *word);

/* True if the first word of the text is `word`. */
int fake_word_is(const char *text, const char *word);

#endif
