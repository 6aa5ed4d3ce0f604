/* Functions that only work as part of their caller: their last arguments are constants there, so that loops over
 * accumulators unroll into registers. What runs once per tile stays out of line: it would be copied dozens of times. */
#ifndef TENON_INLINE_H
#define TENON_INLINE_H

#if defined(_MSC_VER) && !defined(__clang__)
#define INLINE static __forceinline
#define OUTLINE static __declspec(noinline)
#define UNROLL
#elif defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define INLINE static inline __attribute__((always_inline))
#define OUTLINE static __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* A call with its column count as a constant. */
#define COLUMN_CASE(count, call) case count: { enum { columns = count }; call; break; }

#endif
