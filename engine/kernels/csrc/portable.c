/* Every format in plain C, for processors that have none of the instruction sets below, and as the tests' second
 * opinion. The compiler's own vectors make it usable. */
#include "quantize.h"
#include "attention.h"
#include "rows.h"

static int always(void)
{
    return 1;
}

static void store(const struct job *job, int64_t row, int64_t token, const float *values)
{
    for (int64_t i = 0; i < PANEL_ROWS && row + i < job->n; i++)
        job->out[token * job->n + row + i] = values[i] + (job->bias ? job->bias[row + i] : 0.0f);
}

static void int8_span(const uint8_t *w, const int8_t *x, int64_t length, int32_t start, int32_t *sum)
{
    for (int row = 0; row < PANEL_ROWS; row++)
        sum[row] = start;
    for (int64_t k = 0; k < length; k += 4, w += STEP_BYTES)
        for (int row = 0; row < PANEL_ROWS; row++)
            sum[row] += w[4 * row] * x[k] + w[4 * row + 1] * x[k + 1] + w[4 * row + 2] * x[k + 2]
                        + w[4 * row + 3] * x[k + 3];
}

static void int8_token(const struct job *job, int64_t panel, int64_t token)
{
    const uint8_t *w = job->weights + panel * job->panel_bytes;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    float values[PANEL_ROWS] = {0};
    int32_t sum[PANEL_ROWS];

    for (int64_t span = 0; span < job->blocks; span++) {
        const int64_t k = span * SPAN, length = job->k - k < SPAN ? job->k - k : SPAN;
        int8_span(w + k / 4 * STEP_BYTES, x + k, length, job->start[token * job->blocks + span], sum);
        for (int row = 0; row < PANEL_ROWS; row++)
            values[row] += (float)sum[row] * job->x_scale[token * job->blocks + span];
    }
    for (int row = 0; row < PANEL_ROWS; row++)
        values[row] *= job->row_scale[panel * PANEL_ROWS + row];
    store(job, panel * PANEL_ROWS, token, values);
}

static void portable_int8(const struct job *job, int64_t panel)
{
    for (int64_t token = 0; token < job->m; token++)
        int8_token(job, panel, token);
}

/* In 16 bits, which hold a group's products per byte (4 * 2 * 15 * 127), and in lines of 16 bytes, so that the
 * compiler's vectors fit. */
static void int4_group(const uint8_t *w, const int8_t *x, int32_t start, int32_t *sum)
{
    enum { LINE = 16, LINES = STEP_BYTES / LINE };
    int16_t total[LINES][LINE] = {{0}};
    for (int step = 0; step < GROUP / 8; step++, w += STEP_BYTES, x += 8) {
        int16_t low[LINE], high[LINE];
        for (int i = 0; i < LINE; i++) {
            low[i] = x[i % 4];
            high[i] = x[4 + i % 4];
        }
        for (int line = 0; line < LINES; line++)
            for (int i = 0; i < LINE; i++)
                total[line][i] = (int16_t)(total[line][i] + (w[LINE * line + i] & 15) * low[i]
                                           + (w[LINE * line + i] >> 4) * high[i]);
    }
    for (int row = 0; row < PANEL_ROWS; row++) {
        const int16_t *four = total[row / 4] + 4 * (row % 4);
        sum[row] = start + four[0] + four[1] + four[2] + four[3];
    }
}

static void int4_token(const struct job *job, int64_t panel, int64_t token)
{
    const uint8_t *block = job->weights + panel * job->panel_bytes;
    const int8_t *x = (const int8_t *)job->x + token * job->k;
    const int32_t *start = job->start + token * job->blocks;
    const float *x_scale = job->x_scale + token * job->blocks;
    float values[PANEL_ROWS] = {0};
    int32_t sum[PANEL_ROWS];

    for (int64_t k = 0; k < job->k; k += BLOCK, block += BLOCK_BYTES) {
        for (int group = 0; group < 2; group++) {
            const uint8_t *scale = block + 1024 + 64 * group;
            int4_group(block + 512 * group, x + k + GROUP * group, *start++, sum);
            for (int row = 0; row < PANEL_ROWS; row++)
                values[row] += (float)sum[row]
                               * (bits_float((uint32_t)(scale[2 * row] | scale[2 * row + 1] << 8) << 16) * *x_scale);
            x_scale++;
        }
    }
    store(job, panel * PANEL_ROWS, token, values);
}

static void portable_int4(const struct job *job, int64_t panel)
{
    for (int64_t token = 0; token < job->m; token++)
        int4_token(job, panel, token);
}

static void bf16_token(const struct job *job, int64_t panel, int64_t token)
{
    const uint16_t *w = (const uint16_t *)(job->weights + panel * job->panel_bytes);
    const float *x = (const float *)job->x + token * job->k;
    float values[PANEL_ROWS] = {0};

    for (int64_t k = 0; k < job->k; k += 2, w += 2 * PANEL_ROWS)
        for (int row = 0; row < PANEL_ROWS; row++) {
            values[row] += bits_float((uint32_t)w[2 * row] << 16) * x[k];
            values[row] += bits_float((uint32_t)w[2 * row + 1] << 16) * x[k + 1];
        }
    store(job, panel * PANEL_ROWS, token, values);
}

static void portable_bf16(const struct job *job, int64_t panel)
{
    for (int64_t token = 0; token < job->m; token++)
        bf16_token(job, panel, token);
}

const struct instruction_set portable_set = {
    .name = "portable",
    .usable = always,
    .int8 = portable_int8,
    .int8_quantize = quantize_spans,
    .int8_x_bytes = sizeof(int8_t),
    .int4 = portable_int4,
    .int4_quantize = quantize_groups,
    .bf16 = portable_bf16,
    .bf16_convert = convert_to_float,
    .bf16_x_bytes = sizeof(float),
    .rows = &rows128,
    .attention = &attention128,
};
