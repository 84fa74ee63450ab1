/* A forked child inherits objects that were in use. In the child, the objects give the same bits
 * and can be destroyed, even if other threads were in a call during the fork. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends.h"

#define WIDTH 512
#define HEIGHT 256
#define PATIENCE 60 /* seconds until a child counts as hanging */

typedef struct Objects {
    LumeqEqualizer *eq;
    LumeqContext *context;
    CheckRect in;
} Objects;

static Objects open_objects(LumeqBackendId id, int threads)
{
    const LumeqConfig config = {.backend = id, .threads = threads};
    Objects o = {.eq = must_open(id, threads), .in = check_rect(WIDTH, HEIGHT, WIDTH, 0, 0)};
    CHECK(lumeq_context_create(&o.context, &config, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
    picture_fill(&o.in, PICTURE_DARK, 1);
    return o;
}

static void close_objects(Objects *o)
{
    lumeq_destroy(&o->eq);
    lumeq_context_destroy(&o->context);
    check_rect_free(&o->in);
}

/* Equalizes the next frame into a new output. */
static CheckRect equalize(Objects *o)
{
    const CheckRect out = check_rect(WIDTH, HEIGHT, WIDTH, 0, 0);
    LumeqFrame frame = frame_of(&o->in, &out, LUMEQ_RANGE_LIMITED, LUMEQ_NO_TIME);
    CHECK(lumeq_process(o->eq, &frame, NULL) == 0, "%s", lumeq_last_error(o->eq));
    return out;
}

/* Measures a frame and applies its curve to a new output. */
static CheckRect take_steps(Objects *o)
{
    const CheckRect out = check_rect(WIDTH, HEIGHT, WIDTH, 0, 0);
    const LumeqImage from = image_of(&o->in, LUMEQ_RANGE_LIMITED),
                     to = image_of(&out, LUMEQ_RANGE_LIMITED);
    const LumeqMoment moment = {.time = LUMEQ_NO_TIME};
    LumeqMeasure *measure = NULL;
    LumeqHistory *history = NULL;
    LumeqCurve *curve = NULL;
    CHECK(lumeq_measure(o->context, &measure, NULL, &from, NULL, NULL) == 0 &&
              lumeq_measure_finish(measure, 1) == 0 &&
              lumeq_history_create(&history, NULL, 0) == 0 &&
              lumeq_history_put(history, measure, &moment) == 0 &&
              lumeq_history_get(history, &curve) == 0 &&
              lumeq_apply(o->context, curve, &from, NULL, 0, &to, NULL) == 0,
          "%s", lumeq_last_error(NULL));
    lumeq_curve_unref(&curve);
    lumeq_history_destroy(&history);
    lumeq_measure_free(&measure);
    return out;
}

static void check_same(CheckRect made, const CheckRect *wanted, const char *what)
{
    CHECK(check_rect_equal(&made, wanted), "%s differs", what);
    check_rect_free(&made);
}

/* Starts a child, whose failures count in the parent. A child that hangs is killed. */
static pid_t begin_child(void)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        atomic_store(&check_state.failed, 0);
    }
    return child;
}

static _Noreturn void end_child(void)
{
    _exit(atomic_load(&check_state.failed) > 0);
}

static void await_child(pid_t child)
{
    int status = -1;
    const pid_t ended = waitpid(child, &status, 0);
    CHECK(child > 0 && ended == child && status == 0, "the child ended with status %#x%s", status,
          WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
}

BACKEND_TEST(objects_work_in_a_child_and_its_child)
{
    for (int threads = 1; threads <= 4; threads += 3) {
        Objects o = open_objects(id, threads), never_forked = open_objects(id, threads);
        CheckRect step = take_steps(&o), frames[3];
        for (int i = 0; i < 3; i++)
            frames[i] = equalize(&never_forked);
        check_same(equalize(&o), &frames[0], "the first frame");
        const pid_t child = begin_child();
        check_same(equalize(&o), &frames[1], "the second frame"); /* in both processes */
        check_same(take_steps(&o), &step, "a step");
        const pid_t grandchild = child ? child : begin_child();
        check_same(equalize(&o), &frames[2], "the third frame"); /* in all three */
        check_same(take_steps(&o), &step, "another step");
        close_objects(&o);
        if (child == 0 && grandchild == 0)
            end_child();
        await_child(grandchild);
        if (child == 0)
            end_child();
        for (int i = 0; i < 3; i++)
            check_rect_free(&frames[i]);
        check_rect_free(&step);
        close_objects(&never_forked);
    }
}

BACKEND_TEST(a_child_only_destroys)
{
    Objects o = open_objects(id, 4);
    CheckRect out = equalize(&o);
    check_rect_free(&out);
    const pid_t child = begin_child();
    if (child == 0) {
        close_objects(&o);
        end_child();
    }
    await_child(child);
    close_objects(&o);
}

typedef struct Busy {
    Objects *objects;
    const CheckRect *wanted; /* the result of steps; NULL: use the equalizer */
    atomic_bool *stop;
} Busy;

static void *be_busy(void *arg)
{
    const Busy *busy = arg;
    while (!atomic_load(busy->stop)) {
        if (busy->wanted) {
            check_same(take_steps(busy->objects), busy->wanted, "a busy thread");
        } else {
            CheckRect out = equalize(busy->objects);
            check_rect_free(&out);
        }
    }
    return NULL;
}

/* A context works in the child even if threads of the parent hold its lock. */
TEST(fork_during_calls)
{
#ifdef __SANITIZE_ADDRESS__
    check_skip("AddressSanitizer's allocator hangs in the child if used during the fork");
    return;
#endif
    Objects o = open_objects(LUMEQ_BACKEND_CPU, 3);
    CheckRect wanted = take_steps(&o);
    atomic_bool stop = false;
    Busy busy[] = {{&o, &wanted, &stop}, {&o, &wanted, &stop}, {&o, NULL, &stop}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, be_busy, &busy[i]);
    for (int i = 0; i < check_rounds(40); i++) {
        const pid_t child = begin_child();
        if (child == 0) {
            pthread_t other;
            atomic_store(&stop, true);
            atomic_bool go_on = false;
            Busy again = {&o, &wanted, &go_on};
            pthread_create(&other, NULL, be_busy, &again);
            check_same(take_steps(&o), &wanted, "the child");
            atomic_store(&go_on, true);
            pthread_join(other, NULL);
            close_objects(&o);
            end_child();
        }
        await_child(child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    check_rect_free(&wanted);
    close_objects(&o);
}

TEST_MAIN
