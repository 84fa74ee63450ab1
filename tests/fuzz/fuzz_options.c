/* Command lines. An input is a list of arguments, one per line. */
#include "app/options/options.h"
#include "fuzz.h"

#define MOST_ARGUMENTS 64

int fuzz_valid;

/* Checks that the library accepts the parameters of valid options. */
static void check_params(const Options *options)
{
    for (int i = 0; i < 16; i++) {
        const LumeqParams params = options_params(
            options, (OptionsInput){.transfer = i & 1 ? LUMEQ_TRANSFER_PQ : LUMEQ_TRANSFER_SDR,
                                    .still = i >> 1 & 1,
                                    .fine = i >> 2 & 1,
                                    .ahead = i >> 3});
        LumeqHistory *history = NULL;
        const int ret = lumeq_history_create(&history, &params, i >> 3 ? 1000000000 : 0);
        FUZZ_CHECK(ret == 0, "%s", lumeq_last_error(NULL));
        lumeq_history_destroy(&history);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1), *argv[MOST_ARGUMENTS + 2] = {"lumeq"}, wrong[1024] = "";
    int argc = 1;
    FUZZ_CHECK(text && unsetenv("HOME") == 0 && unsetenv("XDG_CONFIG_HOME") == 0, "no memory");
    memcpy(text, bytes, size);
    text[size] = '\0';
    for (char *line = text, *next; line && argc <= MOST_ARGUMENTS; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (next || *line)
            argv[argc++] = line;
    }
    Options options;
    int ret;
    if (argc > 1 && strcmp(argv[1], "plan") == 0)
        ret = options_parse_plan(&options, argc - 1, argv + 1, wrong, sizeof(wrong));
    else
        ret = options_parse(&options, argc, argv, wrong, sizeof(wrong));
    FUZZ_CHECK((ret < 0) == (wrong[0] != '\0'), "%d: %s", ret, wrong);
    if (ret == 0 && !options_is_query(&options)) {
        fuzz_valid++;
        check_params(&options);
        (void)options_input(&options);
        (void)options_many(&options);
    }
    options_free(&options);
    free(text);
    return 0;
}
