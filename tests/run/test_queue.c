/* The queue between two stages: its bounds, and threads at both ends. */
#include <pthread.h>
#include <sched.h>

#include <libavutil/error.h>

#include "check.h"
#include "run/queue.h"

static atomic_int freed;

typedef struct Thing {
    int value, skipped;
} Thing;

static void count_freed(void *thing)
{
    (void)thing;
    atomic_fetch_add(&freed, 1);
}

static void note_dropped(const void *oldest, void *next)
{
    ((Thing *)next)->skipped += ((const Thing *)oldest)->skipped + 1;
}

static Queue *open_queue(int count, int64_t bytes, int drops)
{
    Queue *queue;
    const QueueOptions options = {.item = sizeof(Thing),
                                  .count = count,
                                  .bytes = bytes,
                                  .free = count_freed,
                                  .drop = drops ? note_dropped : NULL};
    atomic_store(&freed, 0);
    if (queue_open(&queue, &options) < 0)
        abort();
    return queue;
}

static int put(Queue *queue, int value, int64_t bytes, QueueWait wait)
{
    Thing thing = {.value = value};
    return queue_put(queue, &thing, bytes, wait);
}

/* Returns the item's value, or a negative error. */
static int take(Queue *queue, QueueWait wait)
{
    Thing thing;
    const int ret = queue_take(queue, &thing, wait);
    return ret < 0 ? ret : thing.value;
}

TEST(bounds_bytes)
{
    Queue *queue = open_queue(10, 100, 0);
    CHECK(put(queue, 1, 60, QUEUE_TRY) == 0, "an empty queue has no room");
    CHECK(put(queue, 2, 40, QUEUE_TRY) == 0, "no room for the last 40 bytes");
    CHECK(put(queue, 3, 1, QUEUE_TRY) == AVERROR(EAGAIN), "room for one byte too many");
    CHECK(take(queue, QUEUE_TRY) == 1 && put(queue, 3, 61, QUEUE_TRY) == AVERROR(EAGAIN),
          "room for one byte too many after a take");
    CHECK(put(queue, 3, 60, QUEUE_TRY) == 0, "no room for as many bytes as were taken");
    CHECK(take(queue, QUEUE_TRY) == 2 && take(queue, QUEUE_TRY) == 3, "wrong order");
    CHECK(put(queue, 4, 1000, QUEUE_TRY) == 0, "an empty queue refuses a large item");
    CHECK(put(queue, 5, 0, QUEUE_TRY) == AVERROR(EAGAIN), "room beside a large item");
    queue_close(&queue);
}

TEST(the_oldest_is_dropped)
{
    Queue *queue = open_queue(2, 100, 1);
    Thing thing;
    for (int i = 0; i < 5; i++)
        CHECK(put(queue, i, 10, QUEUE_WAIT) == 0, "%d has to wait", i);
    CHECK(atomic_load(&freed) == 3, "%d freed", atomic_load(&freed));
    CHECK(queue_take(queue, &thing, QUEUE_TRY) == 0 && thing.value == 3 && thing.skipped == 3,
          "item %d, %d skipped", thing.value, thing.skipped);
    CHECK(put(queue, 5, 95, QUEUE_TRY) == 0, "no item is dropped for 95 bytes");
    CHECK(queue_take(queue, &thing, QUEUE_TRY) == 0 && thing.value == 5 && thing.skipped == 1,
          "item %d, %d skipped", thing.value, thing.skipped);
    CHECK(queue_wait_for_room(queue) == 0, "no room, though items can be dropped");
    queue_close(&queue);
}

/* ---- threads ---- */

#define MANY 20000

typedef struct Writer {
    Queue *queue;
    int count, last; /* number of items put; result of the last call */
} Writer;

static void *write_many(void *arg)
{
    Writer *w = arg;
    while (w->count < MANY && put(w->queue, w->count, w->count % 7, QUEUE_WAIT) == 0)
        w->count++;
    w->last = put(w->queue, -1, 0, QUEUE_WAIT);
    queue_end(w->queue, AVERROR_EOF);
    return NULL;
}

TEST(everything_arrives)
{
    Queue *queue = open_queue(5, 20, 0);
    Writer w = {.queue = queue};
    pthread_t thread;
    int count = 0, value;
    if (!CHECK(pthread_create(&thread, NULL, write_many, &w) == 0, "no thread"))
        return;
    while ((value = take(queue, count % 3 ? QUEUE_WAIT : QUEUE_TRY)) != AVERROR_EOF) {
        CHECK(value == count || value == AVERROR(EAGAIN) || (value == -1 && count == MANY),
              "%d instead of %d", value, count);
        count += value == count;
    }
    pthread_join(thread, NULL);
    CHECK(count == MANY && atomic_load(&freed) == 0, "%d of %d items arrived", count, MANY);
    queue_close(&queue);
}

TEST(a_stop_ends_a_wait_for_room)
{
    for (int i = 0; i < 50; i++) {
        Queue *queue = open_queue(2, 0, 0);
        Writer w = {.queue = queue};
        pthread_t thread;
        if (!CHECK(pthread_create(&thread, NULL, write_many, &w) == 0, "no thread"))
            return;
        for (int taken = 0; taken < i; taken++)
            take(queue, QUEUE_WAIT);
        queue_stop(queue);
        pthread_join(thread, NULL);
        CHECK(w.last == AVERROR_EXIT && w.count < MANY, "%d were put", w.count);
        CHECK(atomic_load(&freed) == w.count - i, "%d of %d freed", atomic_load(&freed),
              w.count - i);
        queue_close(&queue);
    }
}

static void *take_one(void *arg)
{
    Writer *w = arg;
    w->last = take(w->queue, QUEUE_WAIT);
    return NULL;
}

TEST(stop_and_end_end_a_wait_for_items)
{
    for (int i = 0; i < 50; i++) {
        Queue *queue = open_queue(2, 0, 0);
        Writer w = {.queue = queue};
        pthread_t thread;
        if (!CHECK(pthread_create(&thread, NULL, take_one, &w) == 0, "no thread"))
            return;
        if (i % 2)
            sched_yield();
        if (i % 4 < 2)
            queue_stop(queue);
        else
            queue_end(queue, AVERROR(EIO));
        pthread_join(thread, NULL);
        CHECK(w.last == (i % 4 < 2 ? AVERROR_EXIT : AVERROR(EIO)), "queue_take() returns %d",
              w.last);
        queue_close(&queue);
    }
}

TEST_MAIN
