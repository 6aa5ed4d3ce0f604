/* What gated DeltaNet and Mamba-2 do to rows and states, in the compiler's vectors; included by rows_template.h. Each result's
 * terms are added in one order, however many are computed at once. */

static void convolve(const float *const *x, const float *taps, const float *bias, int64_t count, int64_t n, float *out)
{
    for (int64_t at = 0; at < n; at += LANES) {
        fvec sum = load(bias + at);
        for (int64_t j = 0; j < count; j++)
            sum += load(x[j] + at) * load(taps + j * n + at);
        store(out + at, sum);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] /= 1.0f + exponential(out[i] < -80.0f ? 80.0f : -out[i]);
}

static float dot(const float *x, const float *y, int64_t n)
{
    fvec sum = zero();
    for (int64_t i = 0; i < n; i += LANES)
        sum += load(x + i) * load(y + i);
    return total(sum);
}

/* `wide` vectors of the results for `count` rows x. */
INLINE void project_part(const float *state, const float *const *x, int count, int wide, int64_t inner, int64_t n, float *out)
{
    fvec sum[4][8];
    UNROLL
    for (int r = 0; r < count; r++)
        UNROLL
        for (int v = 0; v < wide; v++)
            sum[r][v] = zero();
    for (int64_t i = 0; i < inner; i++) {
        fvec s[8];
        UNROLL
        for (int v = 0; v < wide; v++)
            s[v] = load(state + i * n + v * LANES);
        UNROLL
        for (int r = 0; r < count; r++)
            UNROLL
            for (int v = 0; v < wide; v++)
                sum[r][v] += s[v] * x[r][i];
    }
    UNROLL
    for (int r = 0; r < count; r++)
        UNROLL
        for (int v = 0; v < wide; v++)
            store(out + r * n + v * LANES, sum[r][v]);
}

INLINE void project_rows(const float *state, const float *const *x, int count, int64_t inner, int64_t n, float *out)
{
    const int wide = VECTOR_BYTES / (count > 2 ? 16 : 8);
    int64_t at = 0;
    for (; at + wide * LANES <= n; at += wide * LANES)
        project_part(state + at, x, count, wide, inner, n, out + at);
    for (; at < n; at += LANES)
        project_part(state + at, x, count, 1, inner, n, out + at);
}

static void project(const float *state, const float *const *x, int64_t count, int64_t inner, int64_t n, float *out)
{
    for (; count >= 4; count -= 4, x += 4, out += 4 * n)
        project_rows(state, x, 4, inner, n, out);
    for (; count >= 2; count -= 2, x += 2, out += 2 * n)
        project_rows(state, x, 2, inner, n, out);
    if (count)
        project_rows(state, x, 1, inner, n, out);
}

enum { KEPT_ROWS = 4 };     /* of a state, which share the values that are loaded */

/* `wide` vectors of some rows of a state, `at` within them. */
INLINE void remember_part(const float *state, float stays, const float *const *values, float shares[][KEPT_ROWS],
                          int64_t count, int wide, int64_t at, int64_t n, float *out)
{
    fvec sum[KEPT_ROWS][2];
    UNROLL
    for (int r = 0; r < KEPT_ROWS; r++)
        UNROLL
        for (int v = 0; v < wide; v++)
            sum[r][v] = load(state + r * n + at + v * LANES) * stays;
    for (int64_t j = 0; j < count; j++)
        UNROLL
        for (int v = 0; v < wide; v++) {
            const fvec value = load(values[j] + at + v * LANES);
            UNROLL
            for (int r = 0; r < KEPT_ROWS; r++)
                sum[r][v] += value * shares[j][r];
        }
    UNROLL
    for (int r = 0; r < KEPT_ROWS; r++)
        UNROLL
        for (int v = 0; v < wide; v++)
            store(out + r * n + at + v * LANES, sum[r][v]);
}

static void remember(const float *state, float stays, const float *const *keys, const float *const *values,
                     const float *factors, int64_t count, int64_t inner, int64_t n, float *out)
{
    for (int64_t i = 0; i < inner; i += KEPT_ROWS) {
        float shares[TENON_MEMORY_CHUNK][KEPT_ROWS];
        for (int64_t j = 0; j < count; j++)
            for (int r = 0; r < KEPT_ROWS; r++)
                shares[j][r] = factors[j] * keys[j][i + r];
        int64_t at = 0;
        for (; at + 2 * LANES <= n; at += 2 * LANES)
            remember_part(state + i * n, stays, values, shares, count, 2, at, n, out + i * n);
        for (; at < n; at += LANES)
            remember_part(state + i * n, stays, values, shares, count, 1, at, n, out + i * n);
    }
}

static void multiply_sigmoid(float *x, const float *gate, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] /= 1.0f + exponential(gate[i] < -80.0f ? 80.0f : -gate[i]);
}
