/*
 * A small harness for tests in C: TEST(name) { ... } defines a test, and CHECK() counts passes and
 * failures. TEST_MAIN runs the file's tests in order. It returns 0 if no test failed, 1 if a test
 * failed or no test has the given name, or CHECK_SKIPPED if every test was skipped.
 *
 * Arguments of the program: names of tests to run (default: all), and --seed N to repeat a run
 * (default: $CHECK_SEED, else the time).
 */
#ifndef LUMEQ_TESTS_CHECK_H
#define LUMEQ_TESTS_CHECK_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK_SKIPPED 77

/* Factor for time limits in a sanitizer's build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_SLOWER 5
#else
#define CHECK_SLOWER 1
#endif
#define CHECK_MAX_PRINTED 20 /* failures printed per test; more are only counted */

#define CHECK_MAX_TESTS 100

typedef struct CheckTest {
    const char *name;
    void (*run)(void);
} CheckTest;

static struct {
    atomic_int passed, failed;        /* of the running test; any of its threads may count */
    char skipped[256];                /* reason; "" if not skipped */
    uint64_t seed;                    /* of the whole run */
    CheckTest tests[CHECK_MAX_TESTS]; /* of the file, ordered by line */
    int lines[CHECK_MAX_TESTS], count;
} check_state;

static inline void check_add(const char *name, void (*run)(void), int line)
{
    int at = check_state.count++;
    if (at == CHECK_MAX_TESTS)
        abort();
    for (; at && check_state.lines[at - 1] > line; at--) {
        check_state.tests[at] = check_state.tests[at - 1];
        check_state.lines[at] = check_state.lines[at - 1];
    }
    check_state.tests[at] = (CheckTest){name, run};
    check_state.lines[at] = line;
}

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void add_test_##name(void)                                 \
    {                                                                                              \
        check_add(#name, test_##name, __LINE__);                                                   \
    }                                                                                              \
    static void test_##name(void)

__attribute__((format(printf, 5, 6))) static inline int
check_that(int ok, const char *file, int line, const char *condition, const char *format, ...)
{
    if (ok) {
        atomic_fetch_add(&check_state.passed, 1);
        return 1;
    }
    if (atomic_fetch_add(&check_state.failed, 1) < CHECK_MAX_PRINTED) {
        char text[512];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, condition, text);
    }
    return 0;
}

/* CHECK(condition, format, ...): returns 1 if the condition holds, else 0. */
#define CHECK(condition, ...) check_that(!!(condition), __FILE__, __LINE__, #condition, __VA_ARGS__)

/* Before a variable: calls free(&variable) when the variable's block ends, also by return. */
#define FREED_BY(free) __attribute__((cleanup(free)))

/* Marks the running test as skipped; the test must then return. */
__attribute__((format(printf, 1, 2))) static inline void check_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(check_state.skipped, sizeof(check_state.skipped), format, args);
    va_end(args);
}

/* Under a sanitizer or with $CHECK_SHORT, only one of check_share() similar cases is run. */
static inline int check_share(void)
{
    return CHECK_SLOWER > 1 || getenv("CHECK_SHORT") ? 5 : 1;
}

/* How many of n rounds with random content to run. */
static inline int check_rounds(int n)
{
    return (n + check_share() - 1) / check_share();
}

/* True if case n is run; other seeds run other cases. */
static inline int check_drawn(int n)
{
    return ((uint64_t)n + check_state.seed) % (uint64_t)check_share() == 0;
}

/* For tests with a single thread: under ThreadSanitizer, skips the test and returns 1. */
static inline int check_without_threads(void)
{
#ifdef __SANITIZE_THREAD__
    check_skip("ThreadSanitizer finds nothing in one thread");
    return 1;
#else
    return 0;
#endif
}

/* Returns 0 (passed), 1 (failed) or CHECK_SKIPPED. */
static inline int check_run(const CheckTest *test)
{
    atomic_store(&check_state.passed, 0);
    atomic_store(&check_state.failed, 0);
    check_state.skipped[0] = '\0';
    test->run();

    const int passed = atomic_load(&check_state.passed), failed = atomic_load(&check_state.failed);
    if (check_state.skipped[0]) {
        printf("%s: skipped: %s\n", test->name, check_state.skipped);
        return failed ? 1 : CHECK_SKIPPED;
    }
    printf("%s: %d passed, %d failed\n", test->name, passed, failed);
    if (failed > CHECK_MAX_PRINTED)
        fprintf(stderr, "%s: %d more failures\n", test->name, failed - CHECK_MAX_PRINTED);
    if (!failed && !passed)
        fprintf(stderr, "%s: checked nothing\n", test->name);
    return failed || !passed;
}

static inline int check_wanted(const char *name, int argc, char **argv)
{
    int names = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seed"))
            i++;
        else if (names++, !strcmp(argv[i], name))
            return 1;
    }
    return !names;
}

static inline int check_main(const CheckTest *tests, int count, int argc, char **argv)
{
    const char *seed = getenv("CHECK_SEED");
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    check_state.seed = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--seed"))
            check_state.seed = strtoull(argv[i + 1], NULL, 0);

    int ran = 0, failed = 0, skipped = 0;
    for (int i = 0; i < count; i++) {
        if (!check_wanted(tests[i].name, argc, argv))
            continue;
        const int result = check_run(&tests[i]);
        ran++;
        failed += result == 1;
        skipped += result == CHECK_SKIPPED;
    }
    if (!ran)
        fprintf(stderr, "%s: no test has that name\n", argv[0]);
    if (failed)
        fprintf(stderr, "%s: %d of %d tests failed, repeat with --seed %llu\n", argv[0], failed,
                ran, (unsigned long long)check_state.seed);
    return failed || !ran ? 1 : skipped == ran ? CHECK_SKIPPED : 0;
}

/* A test that runs only if the condition holds. Otherwise the condition must call check_skip(). */
#define TEST_IF(name, condition)                                                                   \
    static void name##_if(void);                                                                   \
    TEST(name)                                                                                     \
    {                                                                                              \
        if (condition)                                                                             \
            name##_if();                                                                           \
    }                                                                                              \
    static void name##_if(void)

static inline int check_file(int argc, char **argv)
{
    return check_main(check_state.tests, check_state.count, argc, argv);
}

#define TEST_MAIN                                                                                  \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return check_file(argc, argv);                                                             \
    }

/* For functions that generate test data. With a sanitizer, they would take most of the time. */
#define CHECK_NOT_INSTRUMENTED __attribute__((no_sanitize_thread, no_sanitize_address))

/* splitmix64, by Sebastiano Vigna, public domain: the value number `index` of the stream `seed`. */
CHECK_NOT_INSTRUMENTED static inline uint64_t check_hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

typedef struct CheckRandom {
    uint64_t seed, index;
} CheckRandom;

/* A stream that depends on the seed and on `number`. */
static inline CheckRandom check_random(uint64_t number)
{
    return (CheckRandom){check_hash(check_state.seed, number), 0};
}

/* A random number from 0 to below - 1. */
static inline int check_below(CheckRandom *random, int below)
{
    return (int)(check_hash(random->seed, random->index++) % (uint64_t)below);
}

/* FNV-1a, 64 bits; start with CHECK_FNV_START. */
#define CHECK_FNV_START 0xCBF29CE484222325u
static inline uint64_t check_fnv(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

/*
 * A rectangle of bytes in its own allocation. All bytes around it, including the padding between
 * rows, hold a pattern that differs from byte to byte. A write beyond the rectangle is found even
 * if it copies a part of the pattern.
 */
typedef struct CheckRect {
    uint8_t *memory;
    size_t size;
    uint8_t *pixels; /* the first row; last in memory if the stride is negative */
    ptrdiff_t stride;
    int width, height; /* bytes, rows */
} CheckRect;

#define CHECK_ALIGNMENT 64

static inline uint8_t check_canary(size_t position)
{
    return (uint8_t)(position * 89 + (position >> 8) * 57 + 0xA5);
}

/*
 * The lowest address of the pixels is a multiple of CHECK_ALIGNMENT plus `offset` bytes. `guard`
 * bytes, a multiple of CHECK_ALIGNMENT, lie before and after the pixels. With guard 0 the memory
 * ends with the rectangle, so that AddressSanitizer reports reads beyond it.
 */
static inline CheckRect check_rect(int width, int height, ptrdiff_t stride, int offset, int guard)
{
    const size_t pitch = (size_t)(stride < 0 ? -stride : stride);
    const size_t start = (size_t)guard + (size_t)offset;
    CheckRect rect = {.stride = stride, .width = width, .height = height};
    rect.size = start + pitch * (size_t)(height - 1) + (size_t)width + (size_t)guard;
    void *memory = NULL;
    if (posix_memalign(&memory, CHECK_ALIGNMENT, rect.size) != 0) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    rect.memory = memory;
    for (size_t i = 0; i < rect.size; i++)
        rect.memory[i] = check_canary(i);
    rect.pixels = rect.memory + start + (stride < 0 ? pitch * (size_t)(height - 1) : 0);
    return rect;
}

static inline uint8_t *check_row(const CheckRect *rect, int y)
{
    return rect->pixels + y * rect->stride;
}

/* True if nothing outside the rectangle was written. */
static inline int check_rect_intact(const CheckRect *rect)
{
    const size_t pitch = (size_t)(rect->stride < 0 ? -rect->stride : rect->stride);
    const uint8_t *lowest = rect->stride < 0 ? check_row(rect, rect->height - 1) : rect->pixels;
    const size_t start = (size_t)(lowest - rect->memory);
    size_t next = 0;
    for (int y = 0; y <= rect->height; y++) {
        const size_t end = y < rect->height ? start + pitch * (size_t)y : rect->size;
        for (; next < end; next++)
            if (rect->memory[next] != check_canary(next))
                return 0;
        next += (size_t)rect->width;
    }
    return 1;
}

/* True if two rectangles of the same size hold the same bytes. */
static inline int check_rect_equal(const CheckRect *a, const CheckRect *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(check_row(a, y), check_row(b, y), (size_t)a->width) != 0)
            return 0;
    return 1;
}

static inline void check_rect_free(CheckRect *rect)
{
    free(rect->memory);
    rect->memory = rect->pixels = NULL;
}

#endif
