/* Attention of some tokens by one key-value head. Before including this, a file brings vectors.h and defines
 *
 *   ATTENTION            the table's name
 *   operand, STEP        the type of a product's left side, and how many of them are multiplied in one step of 4 bytes
 *   TILE_ROWS            rows whose scores stand beside each other
 *   SPARE_ROWS           rows that a product reads behind the last
 *   put_keys             stores LANES keys' channels 2 * pair and 2 * pair + 1 in the products' form
 *   put_values           stores a pair of keys' values in it
 *   to_operands          converts a row
 *   widen                up to 32 channels of an 8-bit row, a multiple of 16, into bfloat16
 *   weigh                rows' scores, [panel][TILE_ROWS][LANES], into weights, WEIGHTS_ROW apart; asks for lines with
 *                        every WEIGH_PIECE scores
 *   multiply             (rows, steps * STEP) operands by panels of `panel_steps` steps, of which `steps` are taken;
 *                        with `more` they go on with the sums that are there
 *   begin_item, end_item around an item: what products need
 *
 * The right side of a product stands in panels of LANES columns: [panel][step][LANES] words of 4 bytes. */

#include "attention.h"
#include "exponential.h"
#include "tenon.h"

enum {
    KEY_PAD = 32,
    SCALE_CHANNELS = 32,
    MANY_ROWS = 64,     /* whose scores take longer than the next chunk takes to come */
};

struct buffers {
    operand *queries;           /* (rows + SPARE_ROWS, width) */
    uint32_t *keys;             /* [CHUNK / LANES][width / STEP][LANES] */
    uint32_t *values;           /* [width / LANES][CHUNK / STEP][LANES] */
    float *scores;              /* [CHUNK / LANES][TILE_ROWS][LANES], panels SCORES_PANEL apart */
    operand *weights;           /* (TILE_ROWS + SPARE_ROWS, WEIGHTS_ROW) */
    float *mixed;               /* (TILE_ROWS, width) */
    uint16_t *rows;             /* (LANES + 1, width): rows of the cache as padded bfloat16, and zeros */
    struct softmax *states;     /* (rows) */
    int64_t width;              /* head_dim, padded */
};

static int64_t lay_out(struct buffers *b, uint8_t *base, int64_t rows, int64_t head_dim)
{
    const int64_t width = (head_dim + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
    int64_t at = 0;
    b->width = width;
#define HAND_OUT(member, count) \
    b->member = (void *)(base + at), at += ((int64_t)sizeof *b->member * (count) + 63) / 64 * 64
    HAND_OUT(queries, (rows + SPARE_ROWS) * width);
    HAND_OUT(keys, CHUNK * width / STEP);
    HAND_OUT(values, CHUNK * width / STEP);
    HAND_OUT(scores, CHUNK / LANES * SCORES_PANEL);
    HAND_OUT(weights, (TILE_ROWS + SPARE_ROWS) * WEIGHTS_ROW);
    HAND_OUT(mixed, TILE_ROWS * width);
    HAND_OUT(rows, (LANES + 1) * width);
    HAND_OUT(states, rows);
#undef HAND_OUT
    return at;
}

static int64_t workspace_bytes(int64_t rows, int64_t head_dim)
{
    struct buffers b;
    return lay_out(&b, NULL, rows, head_dim);
}

/* --- the cache's rows -------------------------------------------------------------------------------------------- */

/* Indices of keys: those from `begin` on are meant, those that are seen are from `first` to `end`. */
struct span { int64_t begin, first, end; };

static struct span seen_by(const struct attention *a, int64_t chunk, int64_t token)
{
    const int64_t begin = chunk * CHUNK, end = a->length + a->depths[token];
    const int64_t first = attention_first(end, a->ahead ? a->ahead + token : NULL, a->window);
    return (struct span){begin, first > begin ? first : begin, end < begin + CHUNK ? end : begin + CHUNK};
}

static const uint8_t *cache_row(const struct attention *a, const uint8_t *side, int64_t token, int64_t index,
                                int64_t row_bytes)
{
    const int64_t behind = index - a->length;
    const int64_t row = behind < 0 || !a->ancestors
        ? index : a->length + a->ancestors[token * a->ancestors_stride + behind];
    return side + row * row_bytes;
}

static void widen_row(const struct attention *a, const uint8_t *row, uint16_t *out)
{
    if (a->cache_type != TENON_CACHE_8_BITS) {
        memcpy(out, row, (size_t)a->head_dim * sizeof *out);
        return;
    }
    const int8_t *q = (const int8_t *)row;
    for (int64_t begin = 0; begin < a->head_dim; begin += SCALE_CHANNELS) {
        uint16_t half;
        memcpy(&half, row + a->head_dim + begin / SCALE_CHANNELS * 2, sizeof half);
        const float scale = bits_float((uint32_t)half << 16);
        widen(q + begin, a->head_dim - begin < SCALE_CHANNELS ? a->head_dim - begin : SCALE_CHANNELS, scale, out + begin);
    }
}

/* LANES rows from an index on as padded bfloat16; those that are not seen are zeros. */
static void find_rows(const struct attention *a, const struct buffers *b, const uint8_t *side, int64_t token,
                      struct span seen, int64_t index, const uint16_t *rows[LANES])
{
    const int64_t row_bytes = attention_row_bytes(a->cache_type, a->head_dim);
    const int as_stored = a->cache_type != TENON_CACHE_8_BITS && b->width == a->head_dim;
    if (as_stored && index >= seen.first && index + LANES <= seen.end && (!a->ancestors || index + LANES <= a->length)) {
        for (int i = 0; i < LANES; i++)
            rows[i] = (const uint16_t *)(side + (index + i) * row_bytes);
        return;
    }
    for (int i = 0; i < LANES; i++) {
        rows[i] = b->rows + LANES * b->width;
        if (index + i < seen.first || index + i >= seen.end)
            continue;
        const uint8_t *row = cache_row(a, side, token, index + i, row_bytes);
        if (as_stored) {
            rows[i] = (const uint16_t *)row;
        } else {
            widen_row(a, row, b->rows + i * b->width);
            rows[i] = b->rows + i * b->width;
        }
    }
}

static struct lines lines_between(const uint8_t *at, const uint8_t *end, int64_t pieces)
{
    return (struct lines){(const char *)at, (const char *)end, ((end - at) / 64 + pieces - 1) / pieces};
}

/* A head's keys and values are streams too short for the processor to see what comes. */
static struct lines lines_of(const struct attention *a, const uint8_t *side, int64_t index, int64_t rows, int64_t pieces)
{
    const int64_t row_bytes = attention_row_bytes(a->cache_type, a->head_dim);
    return lines_between(side + index * row_bytes, side + (index + rows) * row_bytes, pieces);
}

static void prepare_keys(const struct attention *a, const struct buffers *b, int64_t token, struct span seen,
                         int64_t key, int64_t end, struct lines next)
{
    const uint16_t *rows[LANES];
    for (; key < end; key += LANES) {
        find_rows(a, b, a->keys, token, seen, seen.begin + key, rows);
        for (int64_t pair = 0; pair < b->width / 2; pair += LANES) {
            uvec words[LANES];
            UNROLL
            for (int i = 0; i < LANES; i++)
                words[i] = load_words(rows[i] + 2 * pair);
            transpose(words);
            UNROLL
            for (int i = 0; i < LANES; i++) {
                expect_lines(&next);
                put_keys(b->keys + key * (b->width / STEP), pair + i, words[i]);
            }
        }
    }
}

static void prepare_values(const struct attention *a, const struct buffers *b, int64_t token, struct span seen,
                           int64_t key, int64_t end, struct lines next)
{
    const uint16_t *rows[LANES];
    for (; key < end; key += LANES) {
        find_rows(a, b, a->values, token, seen, seen.begin + key, rows);
        for (int64_t channel = 0; channel < b->width; channel += 2 * LANES)
            for (int i = 0; i < LANES; i += 2) {
                expect_lines(&next);
                put_values(b->values, channel, key + i, rows[i] + channel, rows[i + 1] + channel);
            }
    }
}

/* Whether the values of these indices are all finite: a weight of zero takes away no others. */
static int all_finite(const struct attention *a, int64_t token, int64_t first, int64_t end)
{
    const int64_t row_bytes = attention_row_bytes(a->cache_type, a->head_dim);
    const int64_t skipped = a->cache_type == TENON_CACHE_8_BITS ? a->head_dim : 0;
    for (int64_t index = first; index < end; index++) {
        const uint8_t *row = cache_row(a, a->values, token, index, row_bytes);
        int wild = 0;
        for (int64_t at = skipped; at < row_bytes; at += 2) {
            uint16_t half;
            memcpy(&half, row + at, sizeof half);
            wild |= (half & 0x7f80u) == 0x7f80u;
        }
        if (wild)
            return 0;
    }
    return 1;
}

/* --- results of chunks ------------------------------------------------------------------------------------------- */

/* One function for all who merge: two copies might fuse multiplications and additions differently. */
OUTLINE void merge_chunk(float *out, struct softmax *state, const float *mixed, struct softmax chunk, int64_t head_dim)
{
    const float largest = chunk.largest > state->largest ? chunk.largest : state->largest;
    const float before = exponential(state->largest - largest), now = exponential(chunk.largest - largest);
    for (int64_t d = 0; d < head_dim; d += LANES)
        store(out + d, load(out + d) * before + load(mixed + d) * now);
    *state = (struct softmax){largest, state->sum * before + chunk.sum * now};
}

static const struct softmax NOTHING = {-FLT_MAX, 0.0f};

/* `sink`: a score that takes a share of the weights and gives nothing; or NULL. */
OUTLINE void finish(float *out, struct softmax state, const float *sink, int64_t head_dim)
{
    float factor = 1.0f, sum = state.sum;
    if (sink) {
        const float largest = *sink > state.largest ? *sink : state.largest;
        factor = exponential(state.largest - largest);
        sum = sum * factor + exponential(*sink - largest);
    }
    const float inverse = factor / sum;
    for (int64_t d = 0; d < head_dim; d++)
        out[d] *= inverse;
}

static void merge(const float *partials, int64_t stride, int64_t chunks, const float *sink, int64_t head_dim, float *out)
{
    struct softmax state = NOTHING;
    memset(out, 0, (size_t)head_dim * sizeof *out);
    for (int64_t chunk = 0; chunk < chunks; chunk++, partials += stride) {
        struct softmax found;
        memcpy(&found, partials + head_dim, sizeof found);
        merge_chunk(out, &state, partials, found, head_dim);
    }
    finish(out, state, sink, head_dim);
}

/* --- chunks ------------------------------------------------------------------------------------------------------ */

static void hide(float *scores, int64_t first, int64_t end)
{
    for (int64_t k = first; k < end; k++)
        scores[k / LANES * SCORES_PANEL + k % LANES] = -INFINITY;
}

/* Takes away the scores of one row's keys that it does not see, and caps the others. */
static void limit(float *scores, struct span seen, int64_t padded, float soft_cap)
{
    const int64_t first = seen.first - seen.begin, end = seen.end > seen.begin ? seen.end - seen.begin : 0;
    for (int64_t k = 0; soft_cap > 0.0f && k < padded; k++) {
        float *score = scores + k / LANES * SCORES_PANEL + k % LANES;
        *score = soft_cap * hyperbolic_tangent(*score / soft_cap);
    }
    hide(scores, 0, first < padded ? first : padded);
    hide(scores, end, padded);
}

/* How many of these rows, from one on, are of its token. */
static int rows_of_token(const struct attention *a, int64_t row, int64_t rows)
{
    const int64_t left = a->group - row % a->group;
    return (int)(left < rows ? left : rows);
}

/* Up to TILE_ROWS rows by the chunk: the keys that are prepared for all, and behind them each token's own. */
static void attend_tile(const struct attention *a, const struct buffers *b, int64_t chunk, int64_t common, int64_t row,
                        int rows, struct lines *next)
{
    const int64_t width = b->width;
    const struct lines none = {0};
    struct span seen[TILE_ROWS];
    struct softmax found[TILE_ROWS];
    int64_t end = 0;
    for (int r = 0; r < rows; r++) {
        seen[r] = seen_by(a, chunk, (row + r) / a->group);
        if (seen[r].first < seen[r].end && seen[r].end - seen[r].begin > end)
            end = seen[r].end - seen[r].begin;
    }
    if (!end)
        return;
    const int64_t padded = (end + KEY_PAD - 1) / KEY_PAD * KEY_PAD, shared = padded < common ? padded : common;
    const operand *queries = b->queries + row * width;
    multiply(queries, width, rows, b->keys, width / STEP, width / STEP, shared / LANES, b->scores, LANES, SCORES_PANEL, 0);
    for (int r = 0, count; shared < padded && r < rows; r += count) {
        count = rows_of_token(a, row + r, rows - r);
        prepare_keys(a, b, (row + r) / a->group, seen[r], shared, padded, none);
        multiply(queries + r * width, width, count, b->keys + shared * (width / STEP), width / STEP, width / STEP,
                 (padded - shared) / LANES, b->scores + r * LANES + shared / LANES * SCORES_PANEL, LANES, SCORES_PANEL, 0);
    }
    for (int r = 0; r < rows; r++)
        limit(b->scores + r * LANES, seen[r], padded, a->soft_cap);
    weigh(b->scores, rows, (int)padded, b->weights, found, next);
    multiply(b->weights, WEIGHTS_ROW, rows, b->values, CHUNK / STEP, shared / STEP, width / LANES, b->mixed, width,
             LANES, 0);
    for (int r = 0, count; shared < padded && r < rows; r += count) {
        count = rows_of_token(a, row + r, rows - r);
        prepare_values(a, b, (row + r) / a->group, seen[r], shared, padded, none);
        multiply(b->weights + r * WEIGHTS_ROW + shared, WEIGHTS_ROW, count, b->values + shared / STEP * LANES,
                 CHUNK / STEP, (padded - shared) / STEP, width / LANES, b->mixed + r * width, width, LANES, shared > 0);
    }
    for (int r = 0; r < rows; r++) {
        const int64_t token = (row + r) / a->group, head = (row + r) % a->group;
        const float *mixed = b->mixed + r * width;
        if (seen[r].first >= seen[r].end)
            continue;
        if (a->partials) {
            float *partial = a->partials + (chunk - a->first_chunk) * a->partial_chunk_stride
                             + token * a->partial_token_stride + head * attention_partial_floats(a->head_dim);
            memcpy(partial, mixed, (size_t)a->head_dim * sizeof *partial);
            memcpy(partial + a->head_dim, &found[r], sizeof found[r]);
        } else {
            merge_chunk(a->out + token * a->out_stride + head * a->head_dim, &b->states[row + r], mixed, found[r],
                        a->head_dim);
        }
    }
}

static void attend_chunk(const struct attention *a, const struct buffers *b, int64_t chunk, int64_t token,
                         int64_t tokens)
{
    const int64_t begin = chunk * CHUNK;
    struct span any = {begin, INT64_MAX, 0}, all = {begin, 0, INT64_MAX};
    for (int64_t t = token; t < token + tokens; t++) {
        const struct span seen = seen_by(a, chunk, t);
        any.first = seen.first < any.first ? seen.first : any.first;
        any.end = seen.end > any.end ? seen.end : any.end;
        all.first = seen.first > all.first ? seen.first : all.first;
        all.end = seen.end < all.end ? seen.end : all.end;
    }
    if (any.first >= any.end)
        return;
    int64_t common = (any.end - begin + KEY_PAD - 1) / KEY_PAD * KEY_PAD;
    if (tokens > 1 && a->ancestors && begin + common > a->length) {     /* those of a tree are each token's own */
        common = a->length > begin ? (a->length - begin) / KEY_PAD * KEY_PAD : 0;
        any.end = begin + common;
    }
    const int64_t low = all.first < any.end ? all.first : any.end, high = all.end > any.first ? all.end : any.first;
    if (tokens > 1 && !(all_finite(a, token, any.first, low) && all_finite(a, token, high, any.end))) {
        for (int64_t t = token; t < token + tokens; t++)
            attend_chunk(a, b, chunk, t, 1);
        return;
    }
    const int64_t first = token * a->group, rows = tokens * a->group, pieces = common * b->width / (2 * LANES);
    const int many = rows >= MANY_ROWS;
    struct lines next[2] = {{0}}, soon = {0};
    if (many && chunk + 1 < a->end_chunk) {
        next[0] = lines_of(a, a->keys, begin + CHUNK, CHUNK, rows * CHUNK / WEIGH_PIECE / 2);
        next[1] = lines_of(a, a->values, begin + CHUNK, CHUNK, rows * CHUNK / WEIGH_PIECE / 2);
    }
    if (common) {
        prepare_keys(a, b, token, any, 0, common, lines_of(a, a->values, begin, common, pieces));
        if (!many)
            soon = chunk + 1 < a->end_chunk ? lines_of(a, a->keys, begin + CHUNK, common, pieces / 2)
                                            : lines_between(a->next, a->next_end, pieces / 2);
        prepare_values(a, b, token, any, 0, common, soon);
    }
    for (int64_t row = 0; row < rows; row += TILE_ROWS)
        attend_tile(a, b, chunk, common, first + row, (int)(rows - row < TILE_ROWS ? rows - row : TILE_ROWS),
                    &next[2 * row >= rows]);
}

static void attend(const struct attention *a)
{
    const int64_t rows = a->tokens * a->group;
    struct buffers b;
    lay_out(&b, a->workspace, rows, a->head_dim);
    memset(b.queries, 0, (size_t)((rows + SPARE_ROWS) * b.width) * sizeof *b.queries);
    memset(b.rows, 0, (size_t)((LANES + 1) * b.width) * sizeof *b.rows);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t token = row / a->group, head = row % a->group;
        to_operands(a->queries + token * a->query_stride + head * a->head_dim, a->head_dim, b.queries + row * b.width);
        b.states[row] = NOTHING;
        if (!a->partials)
            memset(a->out + token * a->out_stride + head * a->head_dim, 0, (size_t)a->head_dim * sizeof *a->out);
    }
    begin_item();
    for (int64_t chunk = a->first_chunk; chunk < a->end_chunk; chunk++)
        attend_chunk(a, &b, chunk, 0, a->tokens);
    end_item();
    for (int64_t row = 0; !a->partials && row < rows; row++)
        finish(a->out + row / a->group * a->out_stride + row % a->group * a->head_dim, b.states[row],
               a->sinks ? a->sinks + row % a->group : NULL, a->head_dim);
}

const struct attention_operations ATTENTION = {
    .workspace_bytes = workspace_bytes,
    .attend = attend,
    .merge = merge,
};
