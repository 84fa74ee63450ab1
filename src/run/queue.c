#include "run/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/error.h>

#include "media/activity.h"

struct Queue {
    QueueOptions options;
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t changed;
    int first, count; /* a ring of options.count places */
    int64_t waiting;  /* bytes */
    int end;          /* 0: more may follow */
    int stopped;
    int64_t *bytes; /* of each place */
    char *items;
};

int queue_open(Queue **queue, const QueueOptions *options)
{
    Queue *q = *queue = calloc(1, sizeof(*q));
    if (!q)
        return AVERROR(ENOMEM);
    q->options = *options;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->bytes = calloc((size_t)options->count, sizeof(*q->bytes));
    q->items = calloc((size_t)options->count, options->item);
    if (q->bytes && q->items)
        return 0;
    queue_close(queue);
    return AVERROR(ENOMEM);
}

/* ---- under the lock ---- */

static int place(const Queue *q, int index)
{
    return (q->first + index) % q->options.count;
}

static void *item_at(const Queue *q, int index)
{
    return q->items + (size_t)place(q, index) * q->options.item;
}

static bool has_room(const Queue *q, int64_t bytes)
{
    if (q->count == q->options.count)
        return false;
    return !q->count || !q->options.bytes || q->waiting + bytes <= q->options.bytes;
}

static void remove_first(Queue *q)
{
    q->waiting -= q->bytes[q->first];
    q->first = place(q, 1);
    q->count--;
}

static void free_first(Queue *q)
{
    q->options.free(item_at(q, 0));
    remove_first(q);
}

static void empty(Queue *q)
{
    while (q->count)
        free_first(q);
}

static bool is_over(const Queue *q)
{
    return q->stopped || q->end;
}

static int state(const Queue *q)
{
    if (q->stopped)
        return AVERROR_EXIT;
    if (q->count)
        return 0;
    return q->end ? q->end : AVERROR(EAGAIN);
}

/* ---- interface ---- */

int queue_put(Queue *q, void *item, int64_t bytes, QueueWait wait)
{
    pthread_mutex_lock(&q->lock);
    while (q->options.drop && !is_over(q) && !has_room(q, bytes)) {
        q->options.drop(item_at(q, 0), q->count > 1 ? item_at(q, 1) : item);
        free_first(q);
    }
    while (wait == QUEUE_WAIT && !is_over(q) && !has_room(q, bytes))
        pthread_cond_wait(&q->changed, &q->lock);
    int ret = 0;
    if (is_over(q)) {
        ret = AVERROR_EXIT;
    } else if (!has_room(q, bytes)) {
        ret = AVERROR(EAGAIN);
    } else {
        memcpy(item_at(q, q->count), item, q->options.item);
        q->bytes[place(q, q->count++)] = bytes;
        q->waiting += bytes;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return ret;
}

int queue_wait_for_room(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!is_over(q) && !q->options.drop && !has_room(q, 0))
        pthread_cond_wait(&q->changed, &q->lock);
    const int ret = is_over(q) ? AVERROR_EXIT : 0;
    pthread_mutex_unlock(&q->lock);
    return ret;
}

int queue_take(Queue *q, void *item, QueueWait wait)
{
    int ret;
    pthread_mutex_lock(&q->lock);
    while ((ret = state(q)) == AVERROR(EAGAIN) && wait == QUEUE_WAIT)
        pthread_cond_wait(&q->changed, &q->lock);
    if (ret == 0) {
        memcpy(item, item_at(q, 0), q->options.item);
        remove_first(q);
        pthread_cond_broadcast(&q->changed);
        activity_note();
    }
    pthread_mutex_unlock(&q->lock);
    return ret;
}

int queue_take_back(Queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    const int ret = state(q);
    if (ret == 0) {
        memcpy(item, item_at(q, --q->count), q->options.item);
        q->waiting -= q->bytes[place(q, q->count)];
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return ret;
}

int queue_look(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    const int ret = state(q);
    pthread_mutex_unlock(&q->lock);
    return ret;
}

void queue_end(Queue *q, int code)
{
    pthread_mutex_lock(&q->lock);
    q->end = q->end ? q->end : code;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void queue_stop(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->stopped = 1;
    empty(q);
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void queue_restart(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    empty(q);
    q->end = q->stopped = 0;
    pthread_mutex_unlock(&q->lock);
}

int queue_count(Queue *q)
{
    pthread_mutex_lock(&q->lock);
    const int count = q->count;
    pthread_mutex_unlock(&q->lock);
    return count;
}

void queue_close(Queue **queue)
{
    Queue *q = *queue;
    if (!q)
        return;
    if (q->bytes && q->items)
        empty(q);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->bytes);
    free(q->items);
    free(q);
    *queue = NULL;
}
