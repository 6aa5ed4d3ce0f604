/* Weights are asked for before they are needed, and evenly: when a panel is gone over several times, once per block
 * of columns, each pass asks for its part of the next panel, so that memory never waits for arithmetic. A step
 * forward is a divisor of a line or a few of them: others slow the whole loop by up to a fifth on Zen 4.
 *
 * In a single pass it depends on which of the two takes longer. Where memory does, the processor's own prefetchers do
 * best, and one line in two, a page ahead, only helps them over the borders of pages: what is asked for goes through
 * the few miss buffers of the first cache. Where arithmetic does, they fall behind, and every line is asked for. */
#ifndef TENON_PREFETCH_H
#define TENON_PREFETCH_H

#include "inline.h"
#include "job.h"

struct prefetch {
    const uint8_t *at;
    int64_t step;       /* bytes per step of the inner dimension (STEP_BYTES of weights) */
    int64_t second;     /* offset of the other line that a step asks for; 0 when one is enough */
};

enum { PAGE_AHEAD = 4096, FAR_AHEAD = 8192 };

/* `busy`: a step's arithmetic takes longer than its bytes take to come. */
INLINE struct prefetch prefetch_pass(const uint8_t *panel, int64_t panel_bytes, int64_t pass, int64_t passes,
                                     int busy)
{
    if (passes == 1)
        return busy ? (struct prefetch){panel + FAR_AHEAD, STEP_BYTES, 64}
                    : (struct prefetch){panel + PAGE_AHEAD, STEP_BYTES, 0};
    const int64_t share = panel_bytes / 64 * pass / passes * 64;
    return (struct prefetch){panel + panel_bytes + share, (STEP_BYTES / passes + 15) / 16 * 16, 0};
}

INLINE void prefetch_step(struct prefetch *p)
{
    __builtin_prefetch(p->at, 0, 2);
    __builtin_prefetch(p->at + p->second, 0, 2);
    p->at += p->step;
}

#endif
