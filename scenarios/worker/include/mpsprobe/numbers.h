#pragma once
/*
 * What a worker on libmpsprobe_worker may take from the library beside its life
 * (mpsprobe/worker.h): the numbers of a seed, how results are compared, how a shape is read, which
 * image is loaded. The same as in mpsprobe's own workers, so that a result means the same in all of
 * them.
 *
 * All functions may be called from any thread at any time, but not from a signal handler; a struct
 * mpsprobe_numbers by one thread at a time. Where a text is written, it is cut at `size` bytes and
 * ends in a zero byte. Types of elements are letters, as Python's struct has them: f float, d
 * double, i int32_t, q int64_t.
 */
#include <stddef.h>
#include <stdint.h>

#include "worker.h" /* MPSPROBE_PUBLIC */
#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of a seed, the same on every platform. */
typedef struct mpsprobe_numbers mpsprobe_numbers;
/* `stream` separates the consumers of one seed. NULL: no memory. The caller frees it with
 * mpsprobe_numbers_free. */
MPSPROBE_PUBLIC mpsprobe_numbers* mpsprobe_numbers_new(uint64_t seed, uint64_t stream);
/* The next `count` samples of the standard normal distribution, within 6. */
MPSPROBE_PUBLIC void mpsprobe_numbers_normal(mpsprobe_numbers* numbers, float* out, size_t count);
/* The next `count` samples from `low` up to, but not including, `high`. */
MPSPROBE_PUBLIC void mpsprobe_numbers_uniform(mpsprobe_numbers* numbers, double low, double high,
                                              float* out, size_t count);
MPSPROBE_PUBLIC void mpsprobe_numbers_free(mpsprobe_numbers* numbers);

/* What an operation does to its numbers, and so how far a right result may lie from the reference.
 */
typedef enum mpsprobe_rounding {
  MPSPROBE_EXACT = 0,          /* copies, compares or selects: bit for bit */
  MPSPROBE_ELEMENTARY = 1,     /* a few roundings to the result's type */
  MPSPROBE_TRANSCENDENTAL = 2, /* exp, sin, erf ... in the fast forms of a GPU */
  MPSPROBE_ACCUMULATED = 3     /* sums of `terms` products */
} mpsprobe_rounding;

/* Whether two arrays of `sizes` hold the same numbers: 1 yes; 0 no, and `text` says index,
 * expected, got, tolerance and how many are wrong; -1 for a type that is none of the four. `unit`
 * is the distance from 1 to the next number of the result's own type (2^-23 for float32), 0 for
 * integers, which have no tolerance; `terms` of how many terms of magnitude one an element is a
 * sum. NaN equals nothing, an infinity itself. */
MPSPROBE_PUBLIC int mpsprobe_compare(const void* got, char got_type, const void* expected,
                                     char expected_type, const int64_t* sizes, size_t dimensions,
                                     mpsprobe_rounding rounding, double unit, int64_t terms,
                                     char* text, size_t size);

/* Whether these may be samples of the standard normal distribution: 1, 0 with what speaks against
 * it, or -1. A right generator is refused fewer than once in 10^7 arrays. */
MPSPROBE_PUBLIC int mpsprobe_compare_with_normal(const void* samples, char type,
                                                 const int64_t* sizes, size_t dimensions,
                                                 char* text, size_t size);

/* max(a x b, 0) of two float matrices, row by row: `out` has rows * columns elements. */
MPSPROBE_PUBLIC void mpsprobe_positive_product(const float* a, const float* b, int64_t rows,
                                               int64_t inner, int64_t columns, double* out);

/* The sizes that a cell's `shape` asks of an operation, "default" or "8x64x64": how many there are,
 * at most 8, or -1 and in `text` why not. `default_shape` and `dimensions` are those of the
 * operation's entry in `describe`. */
MPSPROBE_PUBLIC int mpsprobe_read_shape(const char* operation, const char* default_shape,
                                        const char* dimensions, const char* shape, int64_t sizes[8],
                                        char* text, size_t size);

/* Writes what identifies a loaded image as JSON, for provenance: path, build_id, uuid, fingerprint.
 * `name` is the beginning of its file's name ("libtorch_cpu"). Returns 1; 0 where no such image is
 * loaded, or the text does not fit. */
MPSPROBE_PUBLIC int mpsprobe_loaded_image(const char* name, char* json, size_t size);

#ifdef __cplusplus
}
#endif
