/* Levels of codebooks' points, looked up in registers by AVX-512 with VBMI. */
#ifndef TENON_BYTE_LOOKUPS_H
#define TENON_BYTE_LOOKUPS_H

#define EIGHT_TIMES(a, b) (a), (a) + (b), (a) + 2 * (b), (a) + 3 * (b), (a) + 4 * (b), (a) + 5 * (b), (a) + 6 * (b), (a) + 7 * (b)

/* Bytes of a table at 64 indexes of seven bits and `bits` further ones. */
INLINE ivec bytes_at(const uint8_t *table, ivec low, const __mmask64 *further, const int bits)
{
    ivec found[MOST_POINTS / 128];
    UNROLL
    for (int i = 0; i < 1 << bits; i++)
        found[i] = _mm512_permutex2var_epi8(load_bytes(table + 128 * i), low, load_bytes(table + 128 * i + 64));
    UNROLL
    for (int bit = 0; bit < bits; bit++)
        UNROLL
        for (int i = 0; i < 1 << (bits - 1 - bit); i++)
            found[i] = _mm512_mask_blend_epi8(further[bit], found[2 * i], found[2 * i + 1]);
    return found[0];
}

/* The halves of points l and l + 1 of LANES rows each: point by point, of each two rows. */
INLINE void look_up_two(const int type, const uint8_t *planes, const int l, ivec two[2])
{
    const struct codebook c = CODEBOOKS[type];
    const int in_signs = type == TENON_IQ2_XS, place = in_signs ? 1 + 2 * l : c.high * l, apart = in_signs ? 2 : c.high;
    const uint8_t *table = point_halves[type], *rest = planes + GROUP / c.width * PANEL_ROWS;
    const ivec low = load_bytes(planes + l * PANEL_ROWS);
    const ivec fourth = (ivec)(__v16si){EIGHT_TIMES(0x0f0b0703, 0x10101010), EIGHT_TIMES(0x0f0b0703, 0x10101010)};
    const ivec pairs = (ivec)(__v8di){EIGHT_TIMES(0x6121602041014000, 0x0202020202020202)};
    __mmask64 further[3] = {_mm512_movepi8_mask(low)};
    if (c.high) {
        const ivec high = in_signs ? _mm512_permutex2var_epi8(load_bytes(rest), fourth, load_bytes(rest + 64))
                                   : _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)(rest + 4 * PANEL_ROWS)));
        UNROLL
        for (int bit = 0; bit < c.high; bit++)
            further[1 + bit] = _mm512_test_epi8_mask(
                high, _mm512_inserti64x4(broadcast_byte(1 << (place + bit)), _mm256_set1_epi8((char)(1 << (place + apart + bit))), 1));
    }
    const ivec first = bytes_at(table, low, further, 1 + c.high);
    const ivec second = bytes_at(table + (256 << c.high), low, further, 1 + c.high);
    UNROLL
    for (int v = 0; v < 2; v++)
        two[v] = _mm512_permutex2var_epi8(first, add_bytes(pairs, broadcast_byte(LANES * v)), second);
}

/* A point's levels, out of two points' halves. */
INLINE void looked_up_levels(const int type, ivec two, const int l, ivec level[2])
{
    const int width = CODEBOOKS[type].width;
    const int64_t levels = width == 8 ? 0x002b1908002b1908 : type == TENON_IQ3_S ? 0x0f0d0b0907050301 : 0x3e342c241c140c04;
    UNROLL
    for (int i = 0; i < width / 4; i++) {
        const int64_t at = (l % 2 * 32 + 8 * i) * 0x0101010101010101 + 16 / width * 0x0302010003020100 + 0x1010101000000000;
        level[i] = _mm512_permutexvar_epi8(_mm512_multishift_epi64_epi8(_mm512_set1_epi64(at), two), _mm512_set1_epi64(levels));
    }
}

#endif
