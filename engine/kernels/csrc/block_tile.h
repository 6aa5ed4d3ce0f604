/* Products with blocks that are spread into bytes. Before including this, a file brings a vector header and spread.h and
 * defines
 *
 *   TILE_VECTORS, BLOCK_COLUMNS   vectors of rows and columns of a tile, as many as the registers hold
 *   NARROW_COLUMNS                columns by which a panel is multiplied while it is spread: 0, 1 or BLOCK_COLUMNS
 *   BLOCK_CLASSES                 a BLOCK_CLASS(subs, mins, bits, whole) for each arithmetic that it tells apart
 *   RUN_STEPS(bits, mins, steps)  steps of a sub-block after which a run of products is added to the sums
 *   RUN                           a run of products of LANES rows, if that is not one vector; RUN_OF(v): it begins at v
 *   run_begin(start, w, x, started, bits)     a run from its first products, groups of four bytes; `started`: there is a start
 *   run_steps(run, w, x, vectors, bits)       adds further ones, to so many runs
 *   run_end(run, scale, whole, bits)          a run's sum; of bytes in pairs times the scales, where these are `whole`
 *   add_runs(sum, run)            a sub-block's sum with a further run's, or a group's in pairs
 *   HAS_LANES                     1 where a product by one of four lanes takes one instruction, lane_step(run, w, x, lane)
 *   ASKS_AHEAD                    0 where memory is left to the processor's own prefetchers
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

#ifndef ASKS_AHEAD
#define ASKS_AHEAD 1
#endif

INLINE void ask(struct ahead *ahead)
{
    for (int64_t line = 0; ASKS_AHEAD && line < ahead->step; line += 64)
        __builtin_prefetch(ahead->at + line, 0, 2);
    ahead->at += ahead->step;
}

/* Without it GCC keeps a group's weights, which its two terms share, in registers, and when there are no more on the stack. */
#define READ_AGAIN() __asm__ volatile("" : : : "memory")

#ifndef RUN
#define RUN ivec
#define RUN_OF(v) (v)
#endif

#ifndef HAS_LANES
#define HAS_LANES 0
#endif

#define IS_DIRECT(type)                                                                                                \
    (HAS_TRITS(type) || (type) == TENON_TQ2_0 || (type) == TENON_Q2_0 || (type) == TENON_PQ2_0 || (type) == TENON_Q1_0)

enum { AS_BYTES = -1 };          /* in a type's place: its chunks are spread already */

/* Whether a type's weights are multiplied in the registers in which they are taken out of their planes: by few columns all
 * of a group's at once, so that its lines are asked for before it is multiplied, else step by step. */
enum { GROUP_IN_REGISTERS = LANES == 4 ? 0 : 2 };
#define IS_UNSPREAD(type) \
    (NARROW_COLUMNS == BLOCK_COLUMNS && (type) >= 0 && !CODEBOOKS[type].width && !CHOICES[type].values && !IS_DIRECT(type))

#define BY_STEPS(type, columns) \
    (IS_UNSPREAD(type) && ((columns) > GROUP_IN_REGISTERS || BLOCK_FORMS[type].byte_planes))

/* Whether a tile wants a chunk's scales as bytes, which are brought to floats where they are wanted: by fewer columns a
 * forward, which waits for memory, took 3 % longer. */
#define HAS_BYTE_SCALES(type, columns) \
    ((HAS_LANES || TILE_VECTORS == MOST_VECTORS) && IS_UNSPREAD(type) && (columns) > GROUP_IN_REGISTERS                    \
     && has_whole_scales(type) && (type) != TENON_Q2_K)

/* Whether each group has a scale in half precision, of which lanes make floats where they are wanted. */
#define HAS_HALF_SCALES(type) \
    (HAS_LANES && IS_UNSPREAD(type) && BLOCK_TYPES[type].unit == GROUP && (type) != TENON_MXFP4)

/* A sub-block's scales; with HAS_BYTE_SCALES the chunk's are at `bytes`. */
INLINE fvec scales_of(const int type, const struct spread_scales *scales, const uint8_t *bytes, int sub, int row,
                      const int columns)
{
    return HAS_BYTE_SCALES(type, columns) ? load_signed(bytes + PANEL_ROWS * sub + row) : load_floats(scales->scale[sub] + row);
}

/* A step's weights, from `at` on; `narrow`: they are to be widened here. */
INLINE ivec step_weights(const int type, const uint8_t w[][STEP_BYTES], const int step, int at, const int by_steps,
                         const int narrow)
{
    if (by_steps)
        return weights_in_planes(type, w[0] + at, step);
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

#if HAS_LANES
#include "block_lanes.h"
#else
enum { LANE_TOKENS = 0 };
#endif

/* Adds the products of a group, the `g`-th of its chunk: `vectors` * LANES rows, from `row` within the panel, by `columns`
 * tokens. `narrow`: weights of 16 bits are still in bytes. */
INLINE void block_group(const int type, const uint8_t w[][STEP_BYTES], const struct spread_scales *scales,
                        const uint8_t *scale_bytes, int g, int row, struct group_x x, fvec value[][BLOCK_COLUMNS],
                        const int vectors, const int columns, const int subs, const int mins, const int bits,
                        const int whole, const int narrow)
{
    const int steps = (SPREAD_WIDE(bits) ? 2 : 1) * GROUP_STEPS / subs, run = RUN_STEPS(bits, mins, steps);
    const int paired = SPREAD_PAIRED(bits), started = !mins && !SPREAD_SIGNED(bits);
    const int by_steps = BY_STEPS(type, columns);
    ivec sum[MOST_VECTORS][BLOCK_COLUMNS];
    fvec found[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int first = 0; first < subs * steps; first += run) {
        const int sub = first / steps, begins = first % steps == 0;
        RUN part[BLOCK_COLUMNS][MOST_VECTORS];
        UNROLL
        for (int i = first; i < first + run; i++) {
            ivec weights[MOST_VECTORS];
            if (by_steps)
                READ_AGAIN();
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = step_weights(type, w, i, 4 * row + VECTOR_BYTES * v, by_steps, narrow);
            UNROLL
            for (int c = 0; c < columns; c++) {
                const RUN start = RUN_OF(started && begins ? broadcast4(x.offset + sub * columns + c) : broadcast_int(0));
                const ivec activations = broadcast4(x.x + 4 * (i * columns + c));
                if (i > first) {
                    run_steps(part[c], weights, activations, vectors, bits);
                    continue;
                }
                UNROLL
                for (int v = 0; v < vectors; v++)
                    part[c][v] = run_begin(start, weights[v], activations, started && begins, bits);
            }
        }
        UNROLL
        for (int c = 0; c < columns; c++)
            UNROLL
            for (int v = 0; v < vectors; v++) {
                const ivec ended = run_end(part[c][v], scales->scale[subs * g + sub] + row + LANES * v, whole, bits);
                sum[v][c] = (paired && whole ? first == 0 : begins) ? ended : add_runs(sum[v][c], ended);
                if ((paired && whole) || first + run < (sub + 1) * steps)
                    continue;
                const fvec product = to_float(sum[v][c]);
                const fvec by = scales_of(type, scales, scale_bytes, subs * g + sub, row + LANES * v, columns);
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

/* Adds a chunk's mins times the activations' sums. Behind bytes of scales come as many of mins, then the halves. */
INLINE void add_mins(const int type, const struct spread_scales *scales, const uint8_t *scale_bytes, int count, int row,
                     const union offset *offset, fvec value[][BLOCK_COLUMNS], const int vectors, const int columns)
{
    const uint8_t *bytes = scale_bytes + PANEL_ROWS * count + row;
    fvec factor[MOST_VECTORS];
    for (int v = 0; HAS_BYTE_SCALES(type, columns) && v < vectors; v++)
        factor[v] = multiply_floats(load_half(bytes + PANEL_ROWS * (count + 2) + row + 2 * LANES * v), broadcast_float(-1));
    for (int sub = 0; sub < count; sub++, offset += columns, bytes += PANEL_ROWS)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            const fvec min = HAS_BYTE_SCALES(type, columns) ? multiply_floats(factor[v], load_unsigned(bytes + LANES * v))
                                                            : load_floats(scales->min[sub] + row + LANES * v);
            UNROLL
            for (int c = 0; c < columns; c++)
                value[v][c] = fused(min, broadcast_float(offset[c].sum), value[v][c]);
        }
}

/* Columns of a tile. */
INLINE int most_columns(const int subs)
{
    return HAS_LANES ? LANE_TOKENS : subs == 2 ? WHOLE_COLUMNS : BLOCK_COLUMNS;
}

/* Whether a type's values are multiplied as digits by a few tokens (block_direct.h), and tokens are not prepared in 16 bits;
 * the zero point of these types is theirs alone. */
#define CAN_HAVE_DIGITS(type) (SPREAD_WIDE(8) && (type) >= 0 && BLOCK_TYPES[type].zero == 127)
#define HAS_DIGITS(job, type) (CAN_HAVE_DIGITS(type) && (job)->m <= BLOCK_COLUMNS)

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

/* Adds the products of a codebook type's group by one token: levels are multiplied as they are looked up, by both terms of
 * the activations, with their signs. */
INLINE void point_group(const int type, const uint8_t *planes, const struct spread_scales *scales, int g,
                        const struct group_x x[], fvec value[][BLOCK_COLUMNS], const int terms)
{
    const struct block_type t = BLOCK_TYPES[type];
    const struct codebook c = CODEBOOKS[type];
    const int subs = GROUP / t.sub, whole = has_whole_scales(type), paired = SPREAD_PAIRED(5), steps = GROUP_STEPS / subs;
    const int run = paired && c.largest > 15 ? 2 : steps, started = !c.signs && !SPREAD_SIGNED(t.bits);
    const int bits = paired || c.largest <= 31 ? 5 : 8;
    uint16_t index[8][PANEL_ROWS];
    uint32_t signs[PANEL_ROWS];
    ivec two[PLANE_VECTORS];
    ivec sum[2][2][MOST_VECTORS];       /* by terms, and sub-blocks where their sums are apart */
    RUN part[2][MOST_VECTORS];
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
                const RUN start = !first ? part[term][v] : RUN_OF(begins ? broadcast4(x[term].offset + sub) : broadcast_int(0));
                part[term][v] = run_begin(start, w, signed_x, !first || begins, bits);
                if (step % run < run - 1)
                    continue;
                const ivec ended = run_end(part[term][v], scales->scale[subs * g + sub] + LANES * v, whole, bits);
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

/* Adds the products of a chunk; what quantizing left of a group's activations comes behind the group. */
INLINE void block_tile(const int type, const struct job *job, const uint8_t *from, const struct spread_scales *scales,
                       int64_t place, int groups, int row, float values[][PANEL_ROWS], struct ahead *ahead,
                       const int vectors, const int columns, const int subs, const int mins, const int bits, const int whole)
{
    const int by_steps = BY_STEPS(type, columns);
    const int spread_here = type >= 0 && !by_steps && !IS_DIRECT(type) && !are_spread(type);
    const uint8_t *scale_bytes = from + (type < 0 ? 0 : CHUNK_GROUPS * planes_bytes(type));
    fvec value[MOST_VECTORS][BLOCK_COLUMNS];
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++)
            value[v][c] = load_floats(values[c] + row + LANES * v);
    if (mins)
        add_mins(type, scales, scale_bytes, subs * groups, row, group_at(job, place, 0, subs, bits).offset, value, vectors,
                 columns);
    UNROLL
    for (int c = 0; whole && c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            store_floats(values[c] + row + LANES * v, value[v][c]);
            value[v][c] = float_zero();
        }
    if (IS_DIRECT(type))
        direct_chunk(type, job, from, place, groups, value, columns);
    struct group_x x = group_at(job, place, 0, subs, bits);     /* stays in registers, which job's would be read into again */
    const int64_t rest = job->rest;
    for (int g = 0; !IS_DIRECT(type) && g < groups; g++, place += columns, x = further_group(x, columns, 0, subs, bits)) {
        _Alignas(64) uint8_t spread[GROUP_STEPS][STEP_BYTES];
        const uint8_t *planes = from + (type < 0 ? g * SPREAD_STEPS * STEP_BYTES : group_place(type, g));
        const int terms = rest ? 1 + has_rest(job, place, columns) : 1;
        ask(ahead);
        if (spread_here && CODEBOOKS[type].width && columns == 1) {
            const struct group_x both[] = {x, further_group(x, 0, rest, subs, bits)};
            if (terms == 2)
                point_group(type, planes, scales, g, both, value, 2);
            else
                point_group(type, planes, scales, g, both, value, 1);
            continue;
        }
#if SPREAD_WIDE(8)
        if (CAN_HAVE_DIGITS(type) && (columns > NARROW_COLUMNS || HAS_DIGITS(job, type))) {
            for (int i = 0; i < terms; i++)
                digit_group(type, planes, scales, g, group_at(job, place, i * job->rest, subs, 0), value, columns);
            continue;
        }
#endif
        if (spread_here)
            spread_group(type, planes, g, spread);
        for (int i = 0; i < terms; i++) {
            READ_AGAIN();
            block_group(type, spread_here ? spread : (const uint8_t(*)[STEP_BYTES])planes, scales, scale_bytes, g,
                        row, i ? further_group(x, 0, rest, subs, bits) : x, value, vectors, columns, subs, mins, bits,
                        whole, type >= 0 && SPREAD_WIDE(bits));
        }
    }
    UNROLL
    for (int c = 0; c < columns; c++)
        UNROLL
        for (int v = 0; v < vectors; v++) {
            float *at = values[c] + row + LANES * v;
            const fvec factor = load_floats(scales->factor + row + LANES * v);
            store_floats(at, whole ? fused(value[v][c], factor, load_floats(at)) : value[v][c]);
        }
}

/* Bytes that each group of a tile asks for, of so many bytes a group. */
INLINE int64_t bytes_to_ask(int64_t group_bytes, int64_t tokens, const int vectors, const int subs)
{
    const int64_t blocks = (tokens + most_columns(subs) - 1) / most_columns(subs) * (MOST_VECTORS / vectors);
    return (group_bytes / blocks + 15) / 16 * 16;
}

/* All tokens of an item over a chunk. `ahead`: the panel's bytes that are to be asked for. */
INLINE void block_chunk(const int type, const struct job *job, const uint8_t *from, const struct spread_scales *scales,
                        int64_t group, int groups, int64_t token, int64_t tokens, float values[][PANEL_ROWS],
                        struct ahead ahead, const int vectors, const int subs, const int mins, const int bits,
                        const int whole)
{
#if HAS_LANES
    if (type < 0 || IS_UNSPREAD(type)) {
        lane_chunk(type, job, from, scales, group, groups, token, tokens, values, subs, mins, bits, whole);
        return;
    }
#endif
    const int most = most_columns(subs), parts = MOST_VECTORS / vectors;
    for (int64_t first = 0; first < tokens; first += most) {
        const struct token_tile tile = tile_of(job, token + first, most);
        for (int part = 0; part < parts; part++) {
#define TILE block_tile(type, job, from, scales, place_of(job, tile, group), groups, vectors * LANES * part, values + first, \
                        &ahead, vectors, columns, subs, mins, bits, whole)
            if (type >= 0 && vectors > TILE_VECTORS && !CAN_HAVE_DIGITS(type))
                switch (tile.width) { COLUMN_CASES(1, TILE) }
            else if (type < 0 || CAN_HAVE_DIGITS(type))
                switch (tile.width) { COLUMN_CASES(BLOCK_COLUMNS, TILE) }
            else
                switch (tile.width) { COLUMN_CASES(NARROW_COLUMNS, TILE) }
#undef TILE
        }
    }
}

#define BLOCK_CLASS(subs, mins, bits, whole)                                                                              \
    static void block_chunk_##subs##_##mins##_##bits##_##whole(const struct job *job, const struct spread *w,             \
                                                               int64_t group, int groups, int64_t token, int64_t tokens,  \
                                                               float values[][PANEL_ROWS], const uint8_t *next,           \
                                                               int64_t size)                                              \
    {                                                                                                                     \
        block_chunk(AS_BYTES, job, w->bytes[0][0], &w->scales, group, groups, token, tokens, values,                      \
                    (struct ahead){next, bytes_to_ask(size / groups, tokens, TILE_VECTORS, subs)}, TILE_VECTORS, subs,    \
                    mins, bits, whole);                                                                                   \
    }
BLOCK_CLASSES
#undef BLOCK_CLASS

/* A panel whose weights are multiplied as they are spread: where memory takes longer than arithmetic the processor's own
 * prefetchers fall behind, so that every line is asked for far ahead (without it products read at 0.74 to 0.82 of the speed
 * of plain reads, with every other line at 0.81 to 0.9, with all at 0.93 to 0.98). */
INLINE void narrow_panel(const int type, const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct block_type t = BLOCK_TYPES[type];
    const uint8_t *from = job->weights + panel * job->panel_bytes;
    const int64_t group_bytes = t.unit_bytes / (t.unit / GROUP);
    const int64_t step = bytes_to_ask(group_bytes, tokens, MOST_VECTORS, GROUP / t.sub);
    const int64_t last_columns = (tokens - 1) % most_columns(GROUP / t.sub) + 1;
    _Alignas(64) float values[MOST_TOKENS][PANEL_ROWS];
    struct spread_scales scales;
    row_scales(type, from + job->panel_bytes, &scales);
    for (int64_t i = 0; i < tokens && i < NARROW_COLUMNS; i++)
        expect_rows(job, panel * PANEL_ROWS, token + i, MOST_VECTORS, 1);
    memset(values, 0, (size_t)tokens * sizeof *values);
    const int most = HAS_HALF_SCALES(type) && !t.mins ? 2 * CHUNK_GROUPS : CHUNK_GROUPS;   /* no scales to spread */
    for (int64_t group = 0; group < job->groups; group += most) {
        const int groups = job->groups - group < most ? (int)(job->groups - group) : most;
        const int subs = LARGE_UNIT / t.sub;
        const uint8_t *halves = from + t.unit_bytes - 2 * PANEL_ROWS * (1 + t.mins);
        if (HAS_BYTE_SCALES(type, last_columns)) {
            spread_halves(halves, scales.factor);
            if (HAS_LANES && t.mins)
                whole_mins(halves + 2 * PANEL_ROWS, halves - PANEL_ROWS * subs, subs, scales.min);
        } else if (!IS_DIRECT(type) && (t.mins || !HAS_HALF_SCALES(type))) {
            spread_scales(type, from, groups, &scales);
        }
#define CHUNK(vectors) \
    block_chunk(type, job, from, &scales, group, groups, token, tokens, values, (struct ahead){from + VECTOR_AHEAD, step}, \
                vectors, GROUP / t.sub, t.mins, t.bits, has_whole_scales(type))
        if (TILE_VECTORS == MOST_VECTORS || NARROW_COLUMNS <= 1 || tokens == 1 || !IS_UNSPREAD(type))
            CHUNK(MOST_VECTORS);
        else
            CHUNK(TILE_VECTORS);
#undef CHUNK
        from += groups * group_bytes;
    }
    store_panel(job, panel, token, tokens, values);
}

#if NARROW_COLUMNS
#define FUNCTION(name)                                                                                               \
    OUTLINE void narrow_panel_##name(const struct job *job, int64_t panel, int64_t token, int64_t tokens)             \
    {                                                                                                                 \
        narrow_panel(TENON_##name, job, panel, token, tokens);                                                        \
    }
EACH_QUANTIZED_TYPE(FUNCTION)
#undef FUNCTION

enum { FEW_TOKENS = 16 };       /* by which weights are rather spread again than stored */

/* Whether a type's weights are taken out of their planes by an instruction or two. */
static int is_plain(int32_t type)
{
    const struct block_form form = BLOCK_FORMS[type];
    return BLOCK_TYPES[type].sub == GROUP && !BLOCK_TYPES[type].mins && !form.two_bit_planes && !form.bit_planes
           && (TILE_VECTORS == MOST_VECTORS || form.byte_planes);
}
#endif

static void block_panel(const struct job *job, int64_t panel, int64_t token, int64_t tokens)
{
    const struct block_type *type = job->type;
    chunk_product *multiply = NULL;
#if NARROW_COLUMNS
    if ((tokens <= (TILE_VECTORS == MOST_VECTORS ? NARROW_COLUMNS : 1) && !(HAS_LANES && CHOICES[type->type].values))
        || HAS_DIGITS(job, type->type)
        || (IS_UNSPREAD(type->type) && (HAS_LANES || tokens <= FEW_TOKENS || is_plain(type->type))))
        switch (type->type) {
#define CASE(name) case TENON_##name: narrow_panel_##name(job, panel, token, tokens); return;
            EACH_QUANTIZED_TYPE(CASE)
#undef CASE
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
