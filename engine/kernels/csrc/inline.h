/* Functions that only work as part of their caller: their last arguments are constants there, so that loops over
 * accumulators unroll into registers. What runs once per tile stays out of line: it would be copied dozens of times. */
#ifndef TENON_INLINE_H
#define TENON_INLINE_H

/* With it GCC 12 copies every accumulator twice in each round of a loop over integer dot products. It stands before
 * the headers of intrinsics, for these only become part of functions of the same settings. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-pre")
#endif

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

/* The cases of a switch over the number of columns: a call in which `columns` is that number as a constant. */
#define COLUMN_CASE(count, call) case count: { enum { columns = count }; call; break; }
#define COLUMN_CASES_0(call)
#define COLUMN_CASES_1(call) COLUMN_CASE(1, call)
#define COLUMN_CASES_2(call) COLUMN_CASES_1(call) COLUMN_CASE(2, call)
#define COLUMN_CASES_4(call) COLUMN_CASES_2(call) COLUMN_CASE(3, call) COLUMN_CASE(4, call)
#define COLUMN_CASES_6(call) COLUMN_CASES_4(call) COLUMN_CASE(5, call) COLUMN_CASE(6, call)
#define COLUMN_CASES_8(call) COLUMN_CASES_6(call) COLUMN_CASE(7, call) COLUMN_CASE(8, call)
#define COLUMN_CASES_UP_TO(most, call) COLUMN_CASES_##most(call)
#define COLUMN_CASES(most, call) COLUMN_CASES_UP_TO(most, call)

#endif
