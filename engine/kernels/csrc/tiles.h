/* AMX's tiles. GCC 12's intrinsics tell the compiler of 8 bytes of a configuration and of nothing that a load reads, so
 * that it may move or drop the stores before them. */
#ifndef TENON_TILES_H
#define TENON_TILES_H

#include <immintrin.h>
#include <stdint.h>

/* The layout that LDTILECFG reads. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

#define ORDER_STORES(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

/* Loads a tile, by its number, from rows that lie `stride` bytes apart, behind all stores before it. */
#define load_tile(tile, base, stride) \
    do { \
        ORDER_STORES(base); \
        _tile_loadd(tile, base, stride); \
        ORDER_STORES(base); \
    } while (0)

static inline void load_configuration(const struct tile_configuration *c)
{
    ORDER_STORES(c);
    _tile_loadconfig(c);
}

/* A thread may have tiles configured for other code of the process, which does so once: they are left as they were. */
static inline struct tile_configuration found_configuration(void)
{
    struct tile_configuration c;
    _tile_storeconfig(&c);
    ORDER_STORES(&c);
    return c;
}

static inline void restore_configuration(struct tile_configuration c)
{
    if (c.palette)
        load_configuration(&c);
    else
        _tile_release();
}

#endif
