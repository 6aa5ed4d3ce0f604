/* AMX's tile instructions in plain C, put before a source of csrc by -include, to test its logic where there is no AMX. */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#undef _tile_loadconfig
#undef _tile_storeconfig
#undef _tile_release
#undef _tile_dpbssd
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#define _tile_loadconfig emulated_configure
#define _tile_storeconfig(place) memcpy(place, emulated.configuration, 64)
#define _tile_release() memset(&emulated, 0, sizeof emulated)
#define _tile_zero(index) memset(emulated.tile[index], 0, 1024)
#define _tile_loadd emulated_load
#define _tile_stored emulated_store
#define _tile_dpbssd emulated_dot
#define _tile_dpbf16ps emulated_dot_bfloat16
#define x86_has_amx x86_has_avx512

static _Thread_local struct {
    uint8_t configuration[64];
    uint8_t tile[8][16][64];
} emulated;

static int emulated_rows(int tile)
{
    return emulated.configuration[48 + tile];
}

static int emulated_bytes(int tile)
{
    return emulated.configuration[16 + 2 * tile];
}

static void emulated_configure(const void *configuration)
{
    memset(&emulated, 0, sizeof emulated);
    memcpy(emulated.configuration, configuration, 64);
}

static void emulated_load(int tile, const void *base, int64_t stride)
{
    for (int row = 0; row < emulated_rows(tile); row++)
        memcpy(emulated.tile[tile][row], (const char *)base + row * stride, (size_t)emulated_bytes(tile));
}

static void emulated_store(int tile, void *base, int64_t stride)
{
    for (int row = 0; row < emulated_rows(tile); row++)
        memcpy((char *)base + row * stride, emulated.tile[tile][row], (size_t)emulated_bytes(tile));
}

static inline void emulated_dot(int sum, int a, int b)
{
    for (int row = 0; row < emulated_rows(sum); row++)
        for (int column = 0; column < emulated_bytes(sum) / 4; column++) {
            int32_t total;
            memcpy(&total, &emulated.tile[sum][row][4 * column], 4);
            for (int k = 0; k < emulated_bytes(a); k++) {
                total += (int8_t)emulated.tile[a][row][k] * (int8_t)emulated.tile[b][k / 4][4 * column + k % 4];
            }
            memcpy(&emulated.tile[sum][row][4 * column], &total, 4);
        }
}

static float emulated_float(const uint8_t *bfloat16)
{
    const uint32_t bits = (uint32_t)(bfloat16[0] | bfloat16[1] << 8) << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* Even and odd products are added up apart, and their sum to the accumulator; denormals are left as they are. */
static inline void emulated_dot_bfloat16(int sum, int a, int b)
{
    for (int row = 0; row < emulated_rows(sum); row++)
        for (int column = 0; column < emulated_bytes(sum) / 4; column++) {
            float total, part[2] = {0, 0};
            memcpy(&total, &emulated.tile[sum][row][4 * column], 4);
            for (int k = 0; k < emulated_bytes(a) / 2; k++)
                part[k % 2] = fmaf(emulated_float(&emulated.tile[a][row][2 * k]),
                                   emulated_float(&emulated.tile[b][k / 2][4 * column + 2 * (k % 2)]), part[k % 2]);
            total += part[0] + part[1];
            memcpy(&emulated.tile[sum][row][4 * column], &total, 4);
        }
}
