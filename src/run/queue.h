/*
 * A queue between two threads. The number of its items and their bytes are limited.
 *
 * Functions return 0 or an AVERROR. All except queue_open() and queue_close() are for any thread.
 */
#ifndef LUMEQ_RUN_QUEUE_H
#define LUMEQ_RUN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Queue Queue;

typedef struct QueueOptions {
    size_t item; /* size of an item: a pointer, or a small struct. The queue copies it. */
    int count;   /* maximum number of items, 1 or more */
    /* Maximum bytes of all items, see queue_put(). A larger item waits alone. 0: no limit. */
    int64_t bytes;
    void (*free)(void *item); /* frees what the item at this address owns */
    /* queue_put() calls it before it frees the oldest item of a full queue. `next` is the item
     * after the oldest. drop() must not use the queue. NULL: queue_put() waits for room instead. */
    void (*drop)(const void *oldest, void *next);
} QueueOptions;

typedef enum QueueWait {
    QUEUE_TRY, /* return AVERROR(EAGAIN) instead of waiting */
    QUEUE_WAIT,
} QueueWait;

/* Returns 0, or AVERROR(ENOMEM); *queue is then NULL. */
int queue_open(Queue **queue, const QueueOptions *options);

/* Adds an item that counts as `bytes`. On success the queue owns the item; else the caller does.
 * Returns AVERROR_EXIT after queue_end() or queue_stop(). */
int queue_put(Queue *queue, void *item, int64_t bytes, QueueWait wait);

/* Waits until queue_put() would accept an item of 0 bytes without waiting. Returns 0, or
 * AVERROR_EXIT after queue_end() or queue_stop(). */
int queue_wait_for_room(Queue *queue);

/* Takes the oldest item, which the caller then owns. Returns the code of queue_end() if no items
 * are left, and AVERROR_EXIT after queue_stop(). */
int queue_take(Queue *queue, void *item, QueueWait wait);

/* Like queue_take() with QUEUE_TRY, but takes the newest item. */
int queue_take_back(Queue *queue, void *item);

/* Returns what queue_take() with QUEUE_TRY would return, without taking an item. */
int queue_look(Queue *queue);

/* Ends the queue. After the last item, queue_take() returns `code`, a negative number. */
void queue_end(Queue *queue, int code);

/* Ends the queue and all waits at once, and frees the queued items. */
void queue_stop(Queue *queue);

/* Frees the queued items and starts again. Call it while no thread waits in queue_*(). */
void queue_restart(Queue *queue);

int queue_count(Queue *queue);

/* Frees the queued items. *queue may be NULL. */
void queue_close(Queue **queue);

#endif
