/*
 * A bounded queue between two threads: by the count of its items, and by their bytes.
 *
 * It ends from both sides. The end of the stream flows down: what is queued is still taken. A stop
 * flows up: whoever puts or takes is told at once, and what is queued is freed. Answers are 0 or
 * AVERROR codes. All functions but queue_open() and queue_close() are for any thread.
 */
#ifndef LUMEQ_RUN_QUEUE_H
#define LUMEQ_RUN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Queue Queue;

typedef struct QueueOptions {
    size_t item; /* bytes of an item, which is copied in and out: a pointer, or a small struct */
    int count;   /* items that may wait, 1 or more */
    /* Bytes that they may have; one that has more waits alone. 0: any number. */
    int64_t bytes;
    void (*free)(void *item); /* frees what the item at this address owns */
    /* NULL: who puts has to wait for room. Else the oldest makes room, and is freed after this
     * call, which tells the item that follows it. The call must not use the queue. */
    void (*drop)(const void *oldest, void *next);
} QueueOptions;

typedef enum QueueWait {
    QUEUE_TRY, /* AVERROR(EAGAIN) instead of waiting */
    QUEUE_WAIT,
} QueueWait;

/* 0 or AVERROR(ENOMEM); *queue is then NULL. */
int queue_open(Queue **queue, const QueueOptions *options);

/* The item is the queue's on success; else it stays the caller's. Once the queue has ended or was
 * stopped, the answer is AVERROR_EXIT. */
int queue_put(Queue *queue, void *item, int64_t bytes, QueueWait wait);

/* Waits until another item has room, as far as that is known without it: 0, or AVERROR_EXIT as
 * queue_put(). It stays so while nobody else puts. */
int queue_wait_for_room(Queue *queue);

/* The oldest item is the caller's on success. Once there is none left, the answer is the code of
 * queue_end(); AVERROR_EXIT after a stop. */
int queue_take(Queue *queue, void *item, QueueWait wait);

/* The same of the newest item, without waiting: whoever has put it has it back. */
int queue_take_back(Queue *queue, void *item);

/* What queue_take() with QUEUE_TRY would answer, which leaves the queue as it is. */
int queue_look(Queue *queue);

/* From above: nothing follows. `code`: negative, what is answered after the last item. */
void queue_end(Queue *queue, int code);

/* From below: nothing more is taken. */
void queue_stop(Queue *queue);

/* Frees what is queued and begins anew. No thread may be waiting in it. */
void queue_restart(Queue *queue);

/* Items that wait. */
int queue_count(Queue *queue);

/* Frees what is queued; NULL is allowed inside. */
void queue_close(Queue **queue);

#endif
