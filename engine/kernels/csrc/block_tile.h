/* Products with blocks that are spread into bytes. Before including this, a file brings a vector header and spread.h and
 * defines
 *
 *   TILE_VECTORS, BLOCK_COLUMNS   vectors of rows and columns of a tile, as many as the registers hold
 *   NARROW_COLUMNS                columns for which memory takes longer than arithmetic, or 0
 *   BLOCK_CLASSES                 a BLOCK_CLASS(subs, mins, bits, whole) for each arithmetic that it tells apart
 *   RUN_STEPS(bits, mins, steps)  steps of a sub-block after which a run of products is added to the sums
 *   run_begin(start, w, x, started, bits)     a run from its first products, groups of four bytes; `started`: there is a start
 *   run_steps(run, w, x, vectors, bits)       adds further ones, to so many runs
 *   run_end(run, scale, whole)    a run's sum; of bytes in pairs times the scales, where these are `whole`
 *   add_runs(sum, run)            a sub-block's sum with a further run's, or a group's in pairs
 *
 * A sub-block's sum is exact in 32 bits. With whole scales (spread.h) a group's sub-blocks are added in order, times their
 * scales, then groups by fused multiply-add with the activations' scale, and chunks by another with the weights' factor.
 * Else sub-blocks are added in order, by fused multiply-add with the product of both scales. Mins times the activations'
 * sums are added before a chunk's products, likewise in order. */

#include "block_panel.h"
#include "quantize.h"

enum {
    MOST_VECTORS = PANEL_ROWS / LANES,
    VECTOR_AHEAD = 12288,
    WHOLE_COLUMNS = BLOCK_COLUMNS < 4 ? BLOCK_COLUMNS : 4,      /* per tile with two sub-blocks' sums, which take twice the registers */
};

/* The weights to come: asked for evenly, while others are multiplied, each of their lines, for one that was left out is
 * waited for. */
struct ahead {
    const uint8_t *at;
    int64_t step;
};

INLINE void ask(struct ahead *ahead)
{
    for (int64_t line = 0; line < ahead->step; line += 64)
        __builtin_prefetch(ahead->at + line, 0, 2);
    ahead->at += ahead->step;
}

/* Without it GCC keeps a group's weights, which its two terms share, in registers, and when there are no more on the stack. */
#define READ_AGAIN() __asm__ volatile("" : : : "memory")

/* Keeps an array out of the registers that a loop needs for others. */
#define IN_MEMORY(array) __asm__ volatile("" : : "r"(array) : "memory")

/* A step's weights; `narrow`: they are to be widened here. */
INLINE ivec step_weights(const uint8_t w[][STEP_BYTES], const int step, int at, const int narrow)
{
    const ivec four = load_bytes(w[narrow ? step / 2 : step] + at);
    return !narrow ? four : step % 2 ? odd_bytes(four) : even_bytes(four);
}

/* A tile's prepared activations from a group on. */
struct group_x {
    const uint8_t *x;
    const float *scale;
    const union offset *offset;
};

/* Those that are so many places and bytes further on. */
INLINE struct group_x further_group(struct group_x x, int64_t places, int64_t bytes, const int subs, const int bits)
{
    (void)bits;
    return (struct group_x){x.x + places * GROUP * (SPREAD_WIDE(bits) ? 2 : 1) + bytes,
                            further(x.scale + places, bytes), further(x.offset + places * subs, bytes)};
}

/* Activations of a tile's group, `term` bytes behind the first term's. */
INLINE struct group_x group_at(const struct job *job, int64_t place, int64_t term, const int subs, const int bits)
{
    return further_group((struct group_x){job->x, job->x_scale, job->offset}, place, term, subs, bits);
}

/* Adds the products of a group, the `g`-th of its chunk: `vectors` * LANES rows, from `row` within the panel, by `columns`
 * tokens. `narrow`: weights of 16 bits are still in bytes. */
INLINE void block_group(const uint8_t w[][STEP_BYTES], const struct spread_scales *scales, int g, int row, struct group_x x,
                        fvec value[][BLOCK_COLUMNS], const int vectors, const int columns, const int subs, const int mins,
                        const int bits, const int whole, const int narrow)
{
    const int steps = (SPREAD_WIDE(bits) ? 2 : 1) * GROUP_STEPS / subs, run = RUN_STEPS(bits, mins, steps);
    const int paired = SPREAD_PAIRED(bits), started = !mins && !SPREAD_SIGNED(bits);
    ivec sum[MOST_VECTORS][BLOCK_COLUMNS];
    fvec found[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int first = 0; first < subs * steps; first += run) {
        const int sub = first / steps, begins = first % steps == 0;
        const float *scale = scales->scale[subs * g + sub] + row;
        ivec part[BLOCK_COLUMNS][MOST_VECTORS];
        UNROLL
        for (int s = first; s < first + run; s++) {
            ivec weights[MOST_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = step_weights(w, s, 4 * row + VECTOR_BYTES * v, narrow);
            UNROLL
            for (int c = 0; c < columns; c++) {
                const ivec activations = broadcast4(x.x + 4 * (s * columns + c));
                if (s > first) {
                    run_steps(part[c], weights, activations, vectors, bits);
                    continue;
                }
                const ivec start = started && begins ? broadcast4(x.offset + sub * columns + c) : broadcast_int(0);
                UNROLL
                for (int v = 0; v < vectors; v++)
                    part[c][v] = run_begin(start, weights[v], activations, started && begins, bits);
            }
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const ivec ended = paired ? run_end(part[c][v], scale + LANES * v, whole) : part[c][v];
                sum[v][c] = (paired && whole ? first == 0 : begins) ? ended : add_runs(sum[v][c], ended);
                if ((paired && whole) || first + run < (sub + 1) * steps)
                    continue;
                const fvec product = to_float(sum[v][c]), by = load_floats(scale + LANES * v);
                if (whole)
                    found[v][c] = sub ? fused(product, by, found[v][c]) : multiply_floats(product, by);
                else
                    value[v][c] = fused(product, multiply_floats(by, broadcast_float(x.scale[c])), value[v][c]);
            }
    }
    UNROLL
    for (int c = 0; whole && c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = fused(paired ? to_float(sum[v][c]) : found[v][c], broadcast_float(x.scale[c]), value[v][c]);
}

/* Adds a chunk's mins times the activations' sums. */
INLINE void add_mins(const struct spread_scales *scales, int count, int row, const union offset *offset,
                     fvec value[][BLOCK_COLUMNS], const int vectors, const int columns)
{
    for (int sub = 0; sub < count; sub++, offset += columns)
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++)
                value[v][c] = fused(load_floats(scales->min[sub] + row + LANES * v), broadcast_float(offset[c].sum),
                                    value[v][c]);
}

/* Adds the products of a chunk; what quantizing left of a group's activations comes behind the group. */
INLINE void block_tile(const struct job *job, const struct spread *w, int64_t place, int groups, int row,
                       float values[][PANEL_ROWS], struct ahead *ahead, const int vectors, const int columns,
                       const int subs, const int mins, const int bits, const int whole)
{
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = load_floats(values[c] + row + LANES * v);
    if (mins)
        add_mins(&w->scales, subs * groups, row, group_at(job, place, 0, subs, bits).offset, value, vectors, columns);
    UNROLL
    for (int c = 0; whole && c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            store_floats(values[c] + row + LANES * v, value[v][c]);
            value[v][c] = float_zero();
        }
    struct group_x x = group_at(job, place, 0, subs, bits);     /* stays in registers, which job's would be read into again */
    for (int g = 0; g < groups; g++, place += columns) {
        const int64_t last = has_rest(job, place, columns) ? job->rest : 0;
        ask(ahead);
        for (int64_t term = 0, ended = 0; !ended; term = last) {
            READ_AGAIN();
            block_group(w->bytes[g], &w->scales, g, row, further_group(x, 0, term, subs, bits), value, vectors, columns, subs,
                        mins, bits, whole, 0);
            ended = term == last;
        }
        x = further_group(x, columns, 0, subs, bits);
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            float *at = values[c] + row + LANES * v;
            const fvec factor = load_floats(w->scales.factor + row + LANES * v);
            store_floats(at, whole ? fused(value[v][c], factor, load_floats(at)) : value[v][c]);
        }
}

/* Columns of a tile. */
INLINE int most_columns(const int subs)
{
    return subs == 2 ? WHOLE_COLUMNS : BLOCK_COLUMNS;
}

/* All tokens of an item over a chunk. `next`: the panel's bytes that are to be asked for, `size` of them. */
INLINE void block_chunk(const struct job *job, const struct spread *w, int64_t group, int groups, int64_t token,
                        int64_t tokens, float values[][PANEL_ROWS], const uint8_t *next, int64_t size, const int subs,
                        const int mins, const int bits, const int whole)
{
    enum { PARTS = MOST_VECTORS / TILE_VECTORS };
    const int most = most_columns(subs);
    const int64_t blocks = (tokens + most - 1) / most;
    struct ahead ahead = {next, (size / (groups * PARTS * blocks) + 15) / 16 * 16};
    for (int64_t first = 0; first < tokens; first += most) {
        const struct token_tile tile = tile_of(job, token + first, most);
        for (int part = 0; part < PARTS; part++)
            switch (tile.width) {
                COLUMN_CASES(BLOCK_COLUMNS, block_tile(job, w, place_of(job, tile, group), groups,
                                                       TILE_VECTORS * LANES * part, values + first, &ahead, TILE_VECTORS,
                                                       columns, subs, mins, bits, whole))
            }
    }
}

/* Whether a few tokens are multiplied with digits of IQ4_VALUES (block_direct.h), and are not prepared in 16 bits; the zero
 * point of these types is theirs alone. */
#define HAS_DIGITS(job, type) (SPREAD_WIDE(8) && BLOCK_TYPES[type].zero == 127 && (job)->m <= BLOCK_COLUMNS)

INLINE void prepare_in_form(const struct job *job, const float *x, int64_t token, const int wide, const int paired)
{
    const int32_t zero = SPREAD_SIGNED(job->type->bits) && !HAS_DIGITS(job, job->type->type) ? 0 : job->type->zero;
    if (job->type->sub == GROUP)
        quantize_token(job, x, token, (struct activation_form){most_columns(1), wide, GROUP, paired, zero});
    else
        quantize_token(job, x, token, (struct activation_form){most_columns(2), wide, GROUP / 2, paired, zero});
}

static void block_prepare(const struct job *job, const float *x, int64_t token)
{
    if (SPREAD_WIDE(job->type->bits) && !HAS_DIGITS(job, job->type->type))
        prepare_in_form(job, x, token, SPREAD_WIDE(8), 0);
    else if (SPREAD_PAIRED(job->type->bits))
        prepare_in_form(job, x, token, 0, SPREAD_PAIRS);
    else
        prepare_in_form(job, x, token, 0, 0);
}

#define BLOCK_CLASS(subs, mins, bits, whole)                                                                              \
    static void block_chunk_##subs##_##mins##_##bits##_##whole(const struct job *job, const struct spread *w,             \
                                                               int64_t group, int groups, int64_t token, int64_t tokens,  \
                                                               float values[][PANEL_ROWS], const uint8_t *next,           \
                                                               int64_t size)                                              \
    {                                                                                                                     \
        block_chunk(job, w, group, groups, token, tokens, values, next, size, subs, mins, bits, whole);                   \
    }
BLOCK_CLASSES
#undef BLOCK_CLASS

/* Adds the products of a codebook type's group by one token: levels are multiplied as they are looked up, by both terms of
 * the activations, with their signs. */
INLINE void point_group(const int type, const uint8_t *planes, const struct spread_scales *scales, int g,
                        const struct group_x x[], fvec value[][BLOCK_COLUMNS], const int terms)
{
    const struct block_type t = BLOCK_TYPES[type];
    const struct codebook c = CODEBOOKS[type];
    const int subs = GROUP / t.sub, whole = has_whole_scales(type), paired = SPREAD_PAIRED(5), steps = GROUP_STEPS / subs;
    const int run = paired && c.largest > 15 ? 2 : steps, started = !c.signs && !SPREAD_SIGNED(t.bits);
    uint16_t index[8][PANEL_ROWS];
    uint32_t signs[PANEL_ROWS];
    ivec two[PLANE_VECTORS];
    ivec sum[2][2][MOST_VECTORS], part[2][MOST_VECTORS];      /* by terms, and sub-blocks where their sums are apart */
    spread_indexes(type, planes, index);
    if (c.signs)
        spread_signs(type, planes, signs);
    UNROLL
    for (int l = 0; l < GROUP / c.width; l++) {
        if (!c.signs && (l == 0 || type == TENON_IQ1_M))
            spread_shifts(type, planes, l, signs);
        ivec plus[2][2], minus[2][2];
        UNROLL
        for (int at = 0; at < terms * c.width / 4; at++) {
            const int term = at % terms, i = at / terms;
            plus[term][i] = broadcast4(x[term].x + c.width * l + 4 * i);
            minus[term][i] = subtract_bytes(broadcast_byte(0), plus[term][i]);
        }
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++) {
            AS_STORED(index, signs);
            const ivec sign = load_bytes(signs + LANES * v);
            ivec level[2];
            point_levels(type, planes, index[0], l, LANES * v, two, level);
            UNROLL
            for (int at = 0; at < terms * c.width / 4; at++) {
                const int term = at % terms, i = at / terms, step = l * c.width / 4 + i, sub = step / steps;
                const int first = step % run == 0, begins = started && step % steps == 0;
                const ivec w = c.signs ? level[i] : add_bytes(level[i], sign);
                const ivec signed_x = c.signs ? chosen(sign, step, minus[term][i], plus[term][i]) : plus[term][i];
                const ivec start = !first ? part[term][v] : begins ? broadcast4(x[term].offset + sub) : broadcast_int(0);
                part[term][v] = run_begin(start, w, signed_x, !first || begins, 5);
                if (step % run < run - 1)
                    continue;
                const ivec ended = paired ? run_end(part[term][v], scales->scale[subs * g + sub] + LANES * v, whole)
                                          : part[term][v];
                ivec *total = &sum[term][paired && whole ? 0 : sub][v];
                *total = (paired && whole ? step < run : step % steps < run) ? ended : add_runs(*total, ended);
            }
        }
    }
    UNROLL
    for (int term = 0; term < terms; term++) {
        const fvec x_scale = broadcast_float(*x[term].scale);
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++) {
            fvec found = to_float(sum[term][0][v]);
            UNROLL
            for (int sub = 0; sub < subs && !(paired && whole); sub++) {
                const fvec product = to_float(sum[term][sub][v]), by = load_floats(scales->scale[subs * g + sub] + LANES * v);
                if (whole)
                    found = sub ? fused(product, by, found) : multiply_floats(product, by);
                else
                    value[v][0] = fused(product, multiply_floats(by, x_scale), value[v][0]);
            }
            if (whole)
                value[v][0] = fused(found, x_scale, value[v][0]);
        }
    }
}

#include "block_direct.h"

/* A panel by a few tokens, where memory takes longer than arithmetic: weights are multiplied as they are spread, and every
 * line is asked for far ahead (the processor's own prefetchers fall behind: without it products read at 0.74 to 0.82 of the
 * speed of plain reads, with every other line at 0.81 to 0.9, with all at 0.93 to 0.98). */
INLINE void block_vectors_of(const int type, const struct job *job, int64_t panel, int64_t token, const int columns)
{
    const struct block_type t = BLOCK_TYPES[type];
    const int subs = GROUP / t.sub, whole = has_whole_scales(type);
    const uint8_t *from = job->weights + panel * job->panel_bytes;
    const int64_t chunk_bytes = t.unit_bytes * (LARGE_UNIT / t.unit);
    const struct token_tile tile = tile_of(job, token, most_columns(subs));
    struct spread_scales scales;
    fvec value[MOST_VECTORS][BLOCK_COLUMNS], total[MOST_VECTORS][BLOCK_COLUMNS];     /* of the chunk, and of all */
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v][c] = total[v][c] = float_zero();
    row_scales(type, from + job->panel_bytes, &scales);
    expect_rows(job, panel * PANEL_ROWS, token, MOST_VECTORS, columns);
    for (int64_t first = 0; first < job->groups; first += CHUNK_GROUPS, from += chunk_bytes) {
        const int groups = job->groups - first < CHUNK_GROUPS ? (int)(job->groups - first) : CHUNK_GROUPS;
        int64_t place = place_of(job, tile, first);
        if (IS_DIRECT(type)) {
            direct_chunk(type, job, from, place, groups, value, columns);
            continue;
        }
        spread_scales(type, from, groups, &scales);
        if (t.mins)
            add_mins(&scales, subs * groups, 0, group_at(job, place, 0, subs, t.bits).offset, whole ? total : value,
                     MOST_VECTORS, columns);
        for (int g = 0; g < groups; g++, place += columns) {
            uint8_t spread[GROUP_STEPS][STEP_BYTES], (*bytes)[STEP_BYTES] = spread;
            const uint8_t *planes = from + group_place(type, g);
            const uint8_t *ahead = from + VECTOR_AHEAD + g * (chunk_bytes / CHUNK_GROUPS);  /* a chunk's scales too */
            UNROLL
            for (int64_t at = 0; at < chunk_bytes / CHUNK_GROUPS; at += 64)
                __builtin_prefetch(ahead + at, 0, 2);
            const int terms = 1 + has_rest(job, place, columns);
            if (CODEBOOKS[type].width && columns == 1) {
                const struct group_x x[] = {group_at(job, place, 0, subs, t.bits), group_at(job, place, job->rest, subs, t.bits)};
                if (terms == 2)
                    point_group(type, planes, &scales, g, x, value, 2);
                else
                    point_group(type, planes, &scales, g, x, value, 1);
                continue;
            }
#if SPREAD_WIDE(8)
            if (HAS_DIGITS(job, type) || columns > NARROW_COLUMNS) {
                for (int i = 0; i < terms; i++)
                    digit_group(type, planes, &scales, g, group_at(job, place, i * job->rest, subs, 0), value, columns);
                continue;
            }
#endif
            if (are_spread(type))
                bytes = (uint8_t(*)[STEP_BYTES])(uintptr_t)planes;
            else
                spread_group(type, planes, g, spread);
            for (int i = 0; i < terms; i++) {
                READ_AGAIN();
                block_group(bytes, &scales, g, 0, group_at(job, place, i * job->rest, subs, t.bits), value, MOST_VECTORS,
                            columns, subs, t.mins, t.bits, whole, SPREAD_WIDE(t.bits));
            }
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++)
                if (whole) {
                    total[v][c] = fused(value[v][c], load_floats(scales.factor + LANES * v), total[v][c]);
                    value[v][c] = float_zero();
                }
        if (whole)
            IN_MEMORY(total);
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            store_rows(job, panel * PANEL_ROWS + LANES * v, token + c, whole ? total[v][c] : value[v][c]);
}

#if NARROW_COLUMNS
#define CASES(most, name) COLUMN_CASES(most, block_vectors_of(TENON_##name, job, panel, token, columns))
#define FUNCTION(name)                                                                                               \
    OUTLINE void block_vectors_##name(const struct job *job, int64_t panel, int64_t token, int64_t tokens)            \
    {                                                                                                                 \
        if (HAS_DIGITS(job, TENON_##name))                                                                            \
            switch (tokens) { CASES(BLOCK_COLUMNS, name) }                                                            \
        else                                                                                                          \
            switch (tokens) { CASES(NARROW_COLUMNS, name) }                                                           \
    }
EACH_QUANTIZED_TYPE(FUNCTION)
#undef FUNCTION

static void block_vectors(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    switch (job->type->type) {
#define CASE(name) case TENON_##name: block_vectors_##name(job, panel, token, tokens); break;
    EACH_QUANTIZED_TYPE(CASE)
#undef CASE
    }
}
#endif

static void block_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct block_type *type = job->type;
    chunk_product *multiply = NULL;
#if NARROW_COLUMNS
    if (tokens <= NARROW_COLUMNS || HAS_DIGITS(job, type->type)) {
        block_vectors(job, panel, token, tokens);
        return;
    }
#endif
#define BLOCK_CLASS(subs, mins_, bits_, whole) \
    if (GROUP / type->sub == subs && type->mins == mins_ && type->bits <= bits_ && has_whole_scales(type->type) == whole \
        && !multiply) \
        multiply = block_chunk_##subs##_##mins_##_##bits_##_##whole;
    BLOCK_CLASSES
#undef BLOCK_CLASS
    multiply_panel(job, panel, token, tokens, multiply);
}
