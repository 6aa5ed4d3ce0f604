/* Persistent workers, and shares of work that idle threads take over from slow ones. */
#ifndef TENON_POOL_H
#define TENON_POOL_H

#include <stdatomic.h>
#include <stdint.h>

enum { MAX_THREADS = 64 };

/* Items 0..count-1, in one contiguous range per thread: ranges keep memory streams long, and a thread that has
 * finished its own takes items from the others'. */
struct shares {
    int64_t count;
    int64_t end[MAX_THREADS];
    struct { _Alignas(64) atomic_llong next; } range[MAX_THREADS];
    _Alignas(64) atomic_llong done;
    int32_t threads;
};

void shares_init(struct shares *shares, int64_t count, int32_t threads);

/* The next item for this thread, or -1 when none is left. */
int64_t shares_take(struct shares *shares, int32_t thread);

/* Reports an item as finished. */
void shares_finish(struct shares *shares);

/* Waits until every item is finished, by whichever thread. */
void shares_wait(struct shares *shares);

/* A number of threads that is allowed. */
int32_t pool_team(int32_t threads);

typedef void pool_body(void *context, int32_t thread);

/* Runs body(context, 0) on the caller and body(context, 1..) on workers that are awake in time. The body must do all
 * the work whoever takes part: a worker that comes too late is not waited for. When another caller has the workers,
 * this one works alone. */
void pool_run(pool_body *body, void *context, int32_t threads);

void pool_set_spin(int64_t microseconds);

#endif
