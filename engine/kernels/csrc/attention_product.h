/* The product of attention in vectors: rows of operands by panels. Before including this, a file brings vectors.h and
 * defines `operand`, STEP, and multiply_add(sum, x, words): adds the products of one step. Each output is one chain of
 * additions in the order of k, whatever the tile. */

enum {
    MOST_ROWS = 6,
    MOST_PANELS = VECTOR_BYTES == 32 ? 2 : 4,
    STEPS_AT_ONCE = 64,     /* whose words stay in the first cache while all rows take them */
};

INLINE void multiply_tile(const operand *x, int64_t x_stride, const uint32_t *panel, int64_t panel_words, int64_t steps,
                          float *out, int64_t out_row, int64_t out_panel, int more, const int panels, const int rows)
{
    fvec sum[MOST_ROWS][MOST_PANELS];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int p = 0; p < panels; p++)
            sum[r][p] = more ? load(out + r * out_row + p * out_panel) : zero();
    for (int64_t step = 0; step < steps; step++, panel += LANES) {
        uvec words[MOST_PANELS];
        UNROLL
        for (int p = 0; p < panels; p++)
            words[p] = load_words(panel + p * panel_words);
        UNROLL
        for (int r = 0; r < rows; r++)
            UNROLL
            for (int p = 0; p < panels; p++)
                sum[r][p] = multiply_add(sum[r][p], x + r * x_stride + step * STEP, words[p]);
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int p = 0; p < panels; p++)
            store(out + r * out_row + p * out_panel, sum[r][p]);
}

OUTLINE void multiply_wide(const operand *x, int64_t x_stride, int rows, const uint32_t *panel, int64_t panel_words,
                           int64_t steps, float *out, int64_t out_row, int64_t out_panel, int more)
{
    switch (rows) {
        COLUMN_CASES_6(multiply_tile(x, x_stride, panel, panel_words, steps, out, out_row, out_panel, more, MOST_PANELS, columns))
    }
}

OUTLINE void multiply_narrow(const operand *x, int64_t x_stride, int rows, const uint32_t *panel, int64_t panel_words,
                             int64_t steps, float *out, int64_t out_row, int64_t out_panel, int more)
{
    switch (rows) {
        COLUMN_CASES_6(multiply_tile(x, x_stride, panel, panel_words, steps, out, out_row, out_panel, more, 1, columns))
    }
}

static void multiply(const operand *x, int64_t x_stride, int rows, const uint32_t *words, int64_t panel_steps,
                     int64_t steps, int64_t panels, float *out, int64_t out_row, int64_t out_panel, int more)
{
    const int64_t panel_words = panel_steps * LANES;
    const int parts = (rows + MOST_ROWS - 1) / MOST_ROWS;
    for (int64_t step = 0; step < steps; step += STEPS_AT_ONCE, more = 1) {
        const int64_t taken = steps - step < STEPS_AT_ONCE ? steps - step : STEPS_AT_ONCE;
        for (int64_t panel = 0; panel < panels;) {
            const int wide = panels - panel >= MOST_PANELS;
            for (int part = 0; part < parts; part++) {
                const int row = rows * part / parts, count = rows * (part + 1) / parts - row;
                (wide ? multiply_wide : multiply_narrow)(x + row * x_stride + step * STEP, x_stride, count,
                                                         words + panel * panel_words + step * LANES, panel_words, taken,
                                                         out + row * out_row + panel * out_panel, out_row, out_panel,
                                                         more);
            }
            panel += wide ? MOST_PANELS : 1;
        }
    }
}
