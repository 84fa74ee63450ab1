/*
 * A queue between two threads, bounded by the number of its items and by their bytes.
 *
 * Either thread can end the queue. After queue_end() the reader still gets all queued items. After
 * queue_stop() both threads get AVERROR_EXIT at once, and the queued items are freed. Functions
 * return 0 or an AVERROR. All except queue_open() and queue_close() are for any thread.
 */
#ifndef LUMEQ_RUN_QUEUE_H
#define LUMEQ_RUN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Queue Queue;

typedef struct QueueOptions {
    size_t item; /* bytes of an item, which is copied in and out: a pointer, or a small struct */
    int count;   /* limit, 1 or more */
    /* Limit for the bytes of all items; a larger item waits alone. 0: no limit. */
    int64_t bytes;
    void (*free)(void *item); /* frees what the item at this address owns */
    /* Makes room in a full queue: queue_put() calls drop() on the oldest item and the one after it,
     * then frees the oldest. drop() must not use the queue. NULL: queue_put() waits for room. */
    void (*drop)(const void *oldest, void *next);
} QueueOptions;

typedef enum QueueWait {
    QUEUE_TRY, /* return AVERROR(EAGAIN) instead of waiting */
    QUEUE_WAIT,
} QueueWait;

/* 0 or AVERROR(ENOMEM); *queue is then NULL. */
int queue_open(Queue **queue, const QueueOptions *options);

/* Adds an item. On success the queue owns it; else the caller does. Returns AVERROR_EXIT after
 * queue_end() or queue_stop(). */
int queue_put(Queue *queue, void *item, int64_t bytes, QueueWait wait);

/* Waits for room for an item of 0 bytes, unless drop() would make room. The room remains unless
 * another thread puts an item. Returns 0, or AVERROR_EXIT like queue_put(). */
int queue_wait_for_room(Queue *queue);

/* Takes the oldest item, which the caller then owns. Returns the code of queue_end() if no items
 * are left, and AVERROR_EXIT after queue_stop(). */
int queue_take(Queue *queue, void *item, QueueWait wait);

/* Takes back the newest item, without waiting. */
int queue_take_back(Queue *queue, void *item);

/* Returns what queue_take() with QUEUE_TRY would, without taking the item. */
int queue_look(Queue *queue);

/* Ends the queue: queue_take() returns `code`, which is negative, after the last item. */
void queue_end(Queue *queue, int code);

/* Ends the queue at once and frees the queued items. */
void queue_stop(Queue *queue);

/* Frees the queued items and starts again. No thread may be waiting in a function of the
 * queue. */
void queue_restart(Queue *queue);

int queue_count(Queue *queue);

/* Frees the queued items. *queue may be NULL. */
void queue_close(Queue **queue);

#endif
