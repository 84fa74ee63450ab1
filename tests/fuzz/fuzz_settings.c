/* Settings files. An input is such a file, read as `--config FILE`. */
#include "app/options/options.h"
#include "fuzz.h"

int fuzz_valid;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[32], wrong[1024] = "";
    const int file = fuzz_file(bytes, size, path);
    char *argv[] = {"lumeq", "in.mkv", "-o", "out.mkv", "--config", path, NULL};
    Options options;
    const int ret = options_parse(&options, 6, argv, wrong, sizeof(wrong));
    FUZZ_CHECK((ret < 0) == (wrong[0] != '\0'), "%d: %s", ret, wrong);
    fuzz_valid += ret == 0;
    if (ret == 0) {
        const LumeqParams params = options_params(&options, (OptionsInput){.ahead = 1});
        LumeqHistory *history = NULL;
        FUZZ_CHECK(lumeq_history_create(&history, &params, 1000000000) == 0, "%s",
                   lumeq_last_error(NULL));
        lumeq_history_destroy(&history);
    }
    options_free(&options);
    FUZZ_CHECK(close(file) == 0, "cannot close a file");
    return 0;
}
