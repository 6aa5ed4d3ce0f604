#include "pool.h"

#include <stddef.h>

#include "threads.h"

/* The gate is one word, so that a worker cannot mix two calls' values:
 * generation << 32 | team << 16 | closed << 15 | entered. */
enum { CLOSED = 1 << 15, ENTERED = CLOSED - 1, TEAM_SHIFT = 16, GENERATION_SHIFT = 32 };

typedef unsigned long long gate_word;

static struct {
    atomic_flag busy;
    atomic_ullong gate;
    atomic_int left;
    atomic_int sleepers;
    atomic_llong spin_us;
    mutex lock;
    condition wake;
    int32_t workers;
    pool_body *body;
    void *context;
} pool = {.busy = ATOMIC_FLAG_INIT, .spin_us = 50, .lock = MUTEX_INITIALIZER, .wake = CONDITION_INITIALIZER};

int32_t pool_team(int32_t threads)
{
    return threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
}

void shares_init(struct shares *shares, int64_t count, int32_t threads)
{
    shares->count = count;
    shares->threads = threads;
    atomic_init(&shares->done, 0);
    for (int32_t t = 0; t < threads; t++) {
        atomic_init(&shares->range[t].next, count * t / threads);
        shares->end[t] = count * (t + 1) / threads;
    }
}

int64_t shares_take(struct shares *shares, int32_t thread)
{
    for (int32_t i = 0; i < shares->threads; i++) {
        const int32_t owner = (thread + i) % shares->threads;
        if (atomic_load_explicit(&shares->range[owner].next, memory_order_relaxed) >= shares->end[owner])
            continue;
        const int64_t item = atomic_fetch_add_explicit(&shares->range[owner].next, 1, memory_order_relaxed);
        if (item < shares->end[owner])
            return item;
    }
    return -1;
}

void shares_finish(struct shares *shares)
{
    atomic_fetch_add_explicit(&shares->done, 1, memory_order_release);
}

void shares_wait(struct shares *shares)
{
    for (int spins = 1; atomic_load_explicit(&shares->done, memory_order_acquire) < shares->count; spins++) {
        pause_processor();
        if (spins % 4096 == 0)
            yield_processor();
    }
}

void pool_set_spin(int64_t microseconds)
{
    atomic_store(&pool.spin_us, microseconds);
}

static gate_word generation_of(gate_word gate)
{
    return gate >> GENERATION_SHIFT;
}

/* Spins for a while, for the next product is usually near; then sleeps. */
static gate_word wait_for_call(gate_word seen)
{
    const int64_t spin_us = atomic_load_explicit(&pool.spin_us, memory_order_relaxed);
    const int64_t start_us = now_us();
    do {
        for (int i = 0; i < 64; i++) {
            const gate_word gate = atomic_load_explicit(&pool.gate, memory_order_acquire);
            if (generation_of(gate) != seen)
                return gate;
            pause_processor();
        }
    } while (now_us() - start_us < spin_us);

    gate_word gate;
    mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleepers, 1);
    while (generation_of(gate = atomic_load(&pool.gate)) == seen)
        condition_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    mutex_unlock(&pool.lock);
    return gate;
}

/* Takes a place in the call that the gate belongs to, unless it is over. */
static int enter(gate_word gate)
{
    const gate_word generation = generation_of(gate);
    while (generation_of(gate) == generation && !(gate & CLOSED))
        if (atomic_compare_exchange_weak(&pool.gate, &gate, gate + 1))
            return 1;
    return 0;
}

static void work(intptr_t index)
{
    /* A worker is started within a call, before the gate opens, and takes part in that call already. */
    gate_word seen = generation_of(atomic_load(&pool.gate));
    for (;;) {
        const gate_word gate = wait_for_call(seen);
        const int32_t team = (int32_t)(gate >> TEAM_SHIFT & 0xffff);
        seen = generation_of(gate);
        if (index >= team || !enter(gate))
            continue;
        pool.body(pool.context, (int32_t)index);
        atomic_fetch_add_explicit(&pool.left, 1, memory_order_release);
    }
}

#if !defined(_WIN32)
/* A forked child has none of the workers, and its lock may have been held. */
static void forget_workers(void)
{
    pool.workers = 0;
    pool.lock = (mutex)MUTEX_INITIALIZER;
    pool.wake = (condition)CONDITION_INITIALIZER;
    atomic_store(&pool.sleepers, 0);
    atomic_flag_clear(&pool.busy);
}
#endif

static void start_workers(int32_t threads)
{
#if !defined(_WIN32)
    static int prepared;
    if (!prepared)
        prepared = !pthread_atfork(NULL, NULL, forget_workers);
#endif
    while (pool.workers < threads - 1 && !thread_begin(work, pool.workers + 1))
        pool.workers++;
}

static void open_gate(int32_t team)
{
    const gate_word generation = (generation_of(atomic_load(&pool.gate)) + 1) & 0xffffffffu;
    atomic_store(&pool.left, 0);
    atomic_store(&pool.gate, generation << GENERATION_SHIFT | (gate_word)team << TEAM_SHIFT);
    if (atomic_load(&pool.sleepers) == 0)
        return;
    mutex_lock(&pool.lock);
    condition_broadcast(&pool.wake);
    mutex_unlock(&pool.lock);
}

static void close_gate(void)
{
    const int entered = (int)(atomic_fetch_or(&pool.gate, CLOSED) & ENTERED);
    for (int spins = 1; atomic_load_explicit(&pool.left, memory_order_acquire) < entered; spins++) {
        pause_processor();
        if (spins % 4096 == 0)
            yield_processor();
    }
}

void pool_run(pool_body *body, void *context, int32_t threads)
{
    if (threads <= 1 || atomic_flag_test_and_set_explicit(&pool.busy, memory_order_acquire)) {
        body(context, 0);
        return;
    }
    start_workers(threads);
    pool.body = body;
    pool.context = context;
    open_gate(threads);
    body(context, 0);
    close_gate();
    atomic_flag_clear_explicit(&pool.busy, memory_order_release);
}
