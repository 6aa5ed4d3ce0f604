/* Tiles where a product by one of four lanes takes one instruction: two vectors of a group's weights stay in registers for
 * all of a tile's tokens, whose sums are in memory. Sums are those of block_tile.h, which includes this. */

enum { LANE_TOKENS = 64, LANE_UNROLL = 4 };     /* of a tile; and by which scales are loaded at once */

/* Two vectors of a group's weights, and their scales by sub-blocks. */
struct lane_weights {
    ivec steps[GROUP_STEPS][TILE_VECTORS];
    fvec scale[2][TILE_VECTORS];
};

/* Both at once, which is one instruction. */
INLINE void load_two(const void *p, ivec v[2])
{
    v[0] = load_bytes(p);
    v[1] = load_bytes((const uint8_t *)p + VECTOR_BYTES);
    __asm__("" : "+w"(v[0]), "+w"(v[1]));
}

/* The scales of two vectors of rows, where the arranged matrix has them as they are. */
INLINE void lane_scales(const int type, const uint8_t *from, const struct spread_scales *scales, int g, int row,
                        struct lane_weights *w, const int subs, const int mins)
{
    for (int sub = 0; sub < subs; sub++) {
        if (HAS_HALF_SCALES(type)) {
            const uint8_t *at = from + (g + 1) * BLOCK_TYPES[type].unit_bytes - 2 * PANEL_ROWS * (1 + mins) + 2 * row;
            const float16x8_t halves = vreinterpretq_f16_s32(load_bytes(at));
            w->scale[sub][0] = vcvt_f32_f16(vget_low_f16(halves));
            w->scale[sub][1] = vcvt_high_f32_f16(halves);
        } else if (HAS_BYTE_SCALES(type, 1)) {
            const uint8_t *at = from + CHUNK_GROUPS * planes_bytes(type) + PANEL_ROWS * (subs * g + sub) + row;
            const int16x8_t wide = vmovl_s8(vld1_s8((const int8_t *)at));
            w->scale[sub][0] = to_float(vmovl_s16(vget_low_s16(wide)));
            w->scale[sub][1] = to_float(vmovl_high_s16(wide));
        } else {
            UNROLL
            for (int v = 0; v < TILE_VECTORS; v++)
                w->scale[sub][v] = load_floats(scales->scale[subs * g + sub] + row + LANES * v);
        }
    }
}

/* Adds a group's products by a token to its sums. */
INLINE void lane_token(const struct lane_weights *w, const uint8_t *x, const ivec start[2], fvec x_scale, ivec sum[TILE_VECTORS],
                       const int subs, const int whole)
{
    const int steps = GROUP_STEPS / subs;
    fvec found[TILE_VECTORS];
    ivec four[2];
    load_two(x, four);
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        ivec run[TILE_VECTORS];
        UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            run[v] = start[sub];
        UNROLL
        for (int s = sub * steps; s < (sub + 1) * steps; s++)
            UNROLL
            for (int v = 0; v < TILE_VECTORS; v++)
                run[v] = lane_step(run[v], w->steps[s][v], four[s / 4], s % 4);
        UNROLL
        for (int v = 0; v < TILE_VECTORS; v++) {
            const fvec product = to_float(run[v]), by = w->scale[sub][v];
            if (whole)
                found[v] = sub ? fused(product, by, found[v]) : multiply_floats(product, by);
            else
                sum[v] = vreinterpretq_s32_f32(fused(product, multiply_floats(by, x_scale), as_float(sum[v])));
        }
    }
    UNROLL
    for (int v = 0; whole && v < TILE_VECTORS; v++)
        sum[v] = vreinterpretq_s32_f32(fused(found[v], x_scale, as_float(sum[v])));
}

/* Adds a group's products by four tokens, or by one, to their sums. */
INLINE void lane_four(const struct lane_weights *w, struct group_x x, int64_t width, ivec sum[][TILE_VECTORS],
                      const int count, const int subs, const int mins, const int bits, const int whole)
{
    const int started = !mins && !SPREAD_SIGNED(bits);
    const fvec x_scale = count == 1 ? broadcast_float(*x.scale) : load_floats(x.scale);
    ivec starts[2];
    UNROLL
    for (int sub = 0; sub < subs; sub++) {
        const union offset *at = x.offset + sub * width;
        starts[sub] = !started ? broadcast_int(0) : count == 1 ? broadcast4(at) : load_bytes(at);
    }
#define TOKEN(t)                                                                                                           \
    if (t < count) {                                                                                                       \
        const ivec start[] = {vdupq_laneq_s32(starts[0], t), vdupq_laneq_s32(starts[subs - 1], t)};                        \
        lane_token(w, x.x + GROUP * (t), start, vdupq_laneq_f32(x_scale, t), sum[t], subs, whole);                         \
    }
    TOKEN(0) TOKEN(1) TOKEN(2) TOKEN(3)
#undef TOKEN
}

/* The sums of so many tokens in registers. */
INLINE void load_sums(const float *values, ivec sum[][TILE_VECTORS], const int count)
{
    UNROLL
    for (int t = 0; t < count; t++)
        load_two(values + PANEL_ROWS * t, sum[t]);
}

INLINE void store_sums(float *values, ivec sum[][TILE_VECTORS], const int count)
{
    UNROLL
    for (int t = 0; t < count; t++)
        UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            store_bytes(values + PANEL_ROWS * t + LANES * v, sum[t][v]);
}

/* Adds a group's products to the sums of a tile's tokens, in registers if they are `few`, else in `values`. `flags`: of the
 * tokens that have any, or NULL; others may be left out. */
INLINE void lane_tokens(const struct lane_weights *w, struct group_x x, int64_t width, const uint8_t *flags,
                        ivec sum[][TILE_VECTORS], float *values, const int few, const int subs, const int mins, const int bits, const int whole)
{
    if (few)
        lane_four(w, x, width, sum, few, subs, mins, bits, whole);
#define SOME(count)                                                                                                        \
    for (; !few && t + (count) <= width; t += (count)) {                                                                   \
        uint32_t any = !flags;                                                                                             \
        if (flags)                                                                                                         \
            memcpy(&any, flags + t, count);                                                                                \
        if (!any)                                                                                                          \
            continue;                                                                                                      \
        load_sums(values + PANEL_ROWS * t, sum, count);                                                                    \
        lane_four(w, (struct group_x){x.x + GROUP * t, x.scale + t, x.offset + t}, width, sum, count, subs, mins, bits,    \
                  whole);                                                                                                  \
        store_sums(values + PANEL_ROWS * t, sum, count);                                                                   \
    }
    int64_t t = 0;
    SOME(LANE_UNROLL)
    SOME(1)
#undef SOME
}

/* Adds the products of some pairs of vectors of a chunk's rows. `refined`: by groups, whether quantizing left something. */
INLINE void lane_rows(const int type, const struct job *job, const uint8_t *from, const struct spread_scales *scales, int row,
                      int64_t place, int groups, int64_t width, unsigned refined, float *values, const int few,
                      const int subs, const int mins, const int bits, const int whole)
{
    const int pairs = few == 1 ? MOST_VECTORS / TILE_VECTORS : 1, rows = LANES * TILE_VECTORS;
    ivec sum[MOST_VECTORS / TILE_VECTORS][LANE_UNROLL][TILE_VECTORS];
    struct group_x x = group_at(job, place, 0, subs, bits);
    UNROLL
    for (int pair = 0; pair < pairs; pair++)
        load_sums(values + rows * pair, sum[pair], few);
    for (int g = 0; g < groups; g++, refined >>= 1, x = further_group(x, width, 0, subs, bits)) {
        const uint8_t *bytes = from + (type < 0 ? g * SPREAD_STEPS * STEP_BYTES : group_place(type, g)) + 4 * row;
        __asm__("" : "+r"(bytes));      /* one pointer, by which two vectors are loaded at once */
        UNROLL
        for (int pair = 0; pair < pairs; pair++) {
            struct lane_weights w;
            UNROLL
            for (int s = 0; s < GROUP_STEPS; s++)
                UNROLL
                for (int v = 0; v < TILE_VECTORS; v++)
                    w.steps[s][v] = step_weights(type, (const uint8_t(*)[STEP_BYTES])bytes, s,
                                                 VECTOR_BYTES * (TILE_VECTORS * pair + v), IS_UNSPREAD(type), 0);
            lane_scales(type, from, scales, g, row + rows * pair, &w, subs, mins);
            lane_tokens(&w, x, width, NULL, sum[pair], values, few, subs, mins, bits, whole);
            if (refined & 1)
                lane_tokens(&w, further_group(x, 0, job->rest, subs, bits), width, job->refined + place + g * width,
                            sum[pair], values, few, subs, mins, bits, whole);
        }
    }
    UNROLL
    for (int pair = 0; pair < pairs; pair++)
        store_sums(values + rows * pair, sum[pair], few);
}

/* Adds a chunk's mins times a token's sums of activations. */
INLINE void lane_mins(const struct spread_scales *scales, int count, const union offset *offset, int64_t width, float *values)
{
    fvec value[MOST_VECTORS];
    UNROLL
    for (int v = 0; v < MOST_VECTORS; v++)
        value[v] = load_floats(values + LANES * v);
    for (int sub = 0; sub < count; sub++)
        UNROLL
        for (int v = 0; v < MOST_VECTORS; v++)
            value[v] = fused(load_floats(scales->min[sub] + LANES * v), broadcast_float(offset[sub * width].sum), value[v]);
    UNROLL
    for (int v = 0; v < MOST_VECTORS; v++)
        store_floats(values + LANES * v, value[v]);
}

/* All tokens of an item over a chunk. */
INLINE void lane_chunk(const int type, const struct job *job, const uint8_t *from, const struct spread_scales *scales,
                       int64_t group, int groups, int64_t token, int64_t tokens, float values[][PANEL_ROWS],
                       const int subs, const int mins, const int bits, const int whole)
{
    _Alignas(64) float chunk[LANE_TOKENS][PANEL_ROWS];
    for (int64_t first = 0; first < tokens; first += LANE_TOKENS) {
        const struct token_tile tile = tile_of(job, token + first, LANE_TOKENS);
        float *sums = whole ? chunk[0] : values[first];
        const int64_t place = place_of(job, tile, group);
        const union offset *offset = group_at(job, place, 0, subs, bits).offset;
        unsigned refined = 0;
        for (int g = 0; job->rest && g < groups; g++)
            refined |= (unsigned)has_rest(job, place + g * tile.width, tile.width) << g;
        for (int t = 0; mins && t < tile.width; t++)
            lane_mins(scales, subs * groups, offset + t, tile.width, values[first + t]);
        if (whole)
            memset(chunk, 0, (size_t)tile.width * sizeof *chunk);
#define ROWS(few, width) \
    lane_rows(type, job, from, scales, row, place, groups, width, refined, sums + row, few, subs, mins, bits, whole)
        for (int row = 0; row < PANEL_ROWS; row += LANES * TILE_VECTORS) {
            if (tile.width == 1) {
                ROWS(1, 1);
                break;
            }
            if (tile.width == LANE_UNROLL)
                ROWS(LANE_UNROLL, LANE_UNROLL);
            else
                ROWS(0, tile.width);
        }
#undef ROWS
        for (int t = 0; whole && t < tile.width; t++)
            UNROLL
            for (int v = 0; v < MOST_VECTORS; v++) {
                float *value = values[first + t] + LANES * v;
                store_floats(value, fused(load_floats(chunk[t] + LANES * v), load_floats(scales->factor + LANES * v),
                                          load_floats(value)));
            }
    }
}
