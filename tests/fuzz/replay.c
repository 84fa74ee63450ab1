/* Runs a target on each file of a folder, without libFuzzer. */
#include <dirent.h>

#include "fuzz.h"

static void run_file(const char *corpus, const char *name)
{
    char path[4096];
    struct stat about = {0};
    snprintf(path, sizeof(path), "%s/%s", corpus, name);
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file && fstat(fileno(file), &about) == 0, "cannot read %s", path);
    const size_t size = (size_t)about.st_size;
    /* Allocate the exact size, so that AddressSanitizer sees overruns. */
    uint8_t *bytes = malloc(size ? size : 1);
    FUZZ_CHECK(bytes && fread(bytes, 1, size, file) == size, "cannot read %s", path);
    fclose(file);
    fprintf(stderr, "%s\n", path); /* names the input of a crash */
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int count = 0;
    const int n = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.') {
            run_file(argv[1], names[i]->d_name);
            count++;
        }
        free(names[i]);
    }
    free(names);
    printf("%d inputs, %d of them valid\n", count, fuzz_valid);
    FUZZ_CHECK(fuzz_valid, "no input is valid; make a new corpus with tests/fuzz/run.sh");
    return 0;
}
