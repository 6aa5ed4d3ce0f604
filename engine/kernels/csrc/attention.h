/* Attention of a layer's rows over the cache: how it is cut into items, and what computes one.
 *
 * Keys are taken in chunks of CHUNK, cut by their index in the text. A row's scores with a chunk become weights by the
 * largest of them, the weights mix the chunk's values, and the results of chunks are merged in order. All of it is
 * computed by row and by key in one order, with unseen keys' weights and values zero, so that a row's bits depend
 * neither on the rows that are computed with it, nor on how the work is cut. */
#ifndef TENON_ATTENTION_H
#define TENON_ATTENTION_H

#include "inline.h"

#include <stdint.h>

enum { CHUNK = 512 };

/* Weights are relative to the largest score; their sum. */
struct softmax { float largest, sum; };

/* Some tokens' queries of one key-value head.
 *
 * A key's index is its position in the text: those before `length` are the cache's rows of the same index, the others
 * a token's ancestors among the uncommitted rows, in order. */
struct attention {
    const float *queries;       /* (tokens, group, head_dim), scaled; tokens are query_stride apart */
    float *out;                 /* (tokens, group, head_dim), out_stride apart */
    int64_t query_stride, out_stride;
    int64_t tokens, group, head_dim;
    const uint8_t *keys, *values;   /* rows of this key-value head */
    int32_t cache_type;
    float soft_cap;             /* 0: none */
    const float *sinks;         /* (group), or NULL */
    int64_t length, window;
    const int32_t *depths;      /* (tokens): uncommitted keys that are seen */
    const int32_t *ancestors;   /* (tokens, ancestors_stride): row - length of index length, length + 1, ...; NULL: 0, 1, ... */
    int64_t ancestors_stride;
    const int32_t *ahead;       /* (tokens): uncommitted keys behind a token's own; NULL: none */
    int64_t first_chunk, end_chunk;     /* to be computed */
    float *partials;            /* NULL: `out` becomes the result; else each chunk's, see attention_partial_floats */
    int64_t partial_token_stride, partial_chunk_stride;
    uint8_t *workspace;
    const uint8_t *next, *next_end;     /* the first keys of the thread's next item */
};

/* Lines of memory that are needed a while later: some are asked for with each piece of work in between, for more at
 * once than a core can wait for hold it up. */
struct lines { const char *at, *end; int64_t each; };

INLINE void expect_lines(struct lines *lines)
{
    for (int64_t i = 0; i < lines->each && lines->at < lines->end; i++, lines->at += 64)
        __builtin_prefetch(lines->at, 0, 2);
}

struct attention_operations {
    int64_t (*workspace_bytes)(int64_t rows, int64_t head_dim);
    void (*attend)(const struct attention *a);
    /* Merges a head's results of `chunks` chunks, `stride` floats apart; sink: the head's, or NULL. */
    void (*merge)(const float *partials, int64_t stride, int64_t chunks, const float *sink, int64_t head_dim, float *out);
};

extern const struct attention_operations attention128, attention256, attention512, attention_bf16, attention_amx;

/* Where a token's keys begin; `ahead`: how many of those before `end` are behind its own. */
static inline int64_t attention_first(int64_t end, const int32_t *ahead, int64_t window)
{
    const int64_t own = ahead ? end - *ahead : end;
    return window && own > window ? own - window : 0;
}

/* A head's result of one chunk: its values, and a struct softmax. */
static inline int64_t attention_partial_floats(int64_t head_dim)
{
    return head_dim + 16;
}

/* Bytes of one head's keys or values of one token: bfloat16, or a byte per channel and a bfloat16 scale per 32. */
int64_t attention_row_bytes(int32_t cache_type, int64_t head_dim);

/* Brings a row into the cache's type. */
void attention_store_row(int32_t cache_type, const float *x, int64_t head_dim, void *row);

struct tenon_layer;
struct tenon_step;
struct tenon_text;

/* Items of one text: a block of tokens by a part of a key-value head's query heads by a part of the chunks. */
struct attention_plan {
    int64_t tokens;             /* of a block; the last may have fewer */
    int64_t blocks, parts, splits;
    int64_t items;              /* of all key-value heads */
    int64_t first_chunk, chunks;    /* that any row sees */
    int64_t workspace_bytes;    /* of a thread */
    int64_t partial_floats;     /* of all chunks; 0: the keys are not split */
};

/* Products of a row of queries with a row of keys, whose share of all texts' a text's items are to have. */
int64_t attention_work(const struct tenon_step *step, const struct tenon_text *text);

struct attention_plan attention_plan(const struct tenon_layer *layer, const struct tenon_step *step,
                                     const struct tenon_text *text, double share,
                                     const struct attention_operations *operations, int32_t threads);

#endif
