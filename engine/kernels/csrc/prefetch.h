/* Weights are asked for before they are needed, and evenly: when a panel is gone over several times, once per block
 * of columns, each pass asks for its part of the next panel, so that memory never waits for arithmetic. */
#ifndef TENON_PREFETCH_H
#define TENON_PREFETCH_H

#include "inline.h"
#include "job.h"

struct prefetch {
    const uint8_t *at;
    int64_t step;       /* bytes per step of the inner dimension (STEP_BYTES of weights) */
    int64_t second;     /* offset of the other line that a step asks for; 0 when one is enough */
};

enum { DISTANCE = 1024 };

INLINE struct prefetch prefetch_pass(const uint8_t *panel, int64_t panel_bytes, int64_t pass, int64_t passes)
{
    if (passes == 1)
        return (struct prefetch){panel + DISTANCE, STEP_BYTES, 64};
    return (struct prefetch){panel + panel_bytes + panel_bytes * pass / passes, STEP_BYTES / passes, 0};
}

INLINE void prefetch_step(struct prefetch *p)
{
    __builtin_prefetch(p->at, 0, 2);
    __builtin_prefetch(p->at + p->second, 0, 2);
    p->at += p->step;
}

#endif
