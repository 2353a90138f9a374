#pragma once

// Before each of PyTorch's sources: what Apple's headers bring with Foundation, and GNUstep's do
// not.
#include <more_foundation.h>

// gcc's is no null pointer of another type.
#undef nil
#define nil nullptr

// The releases whose API scenarios/frameworks declares: PyTorch then declares none of it itself.
#define __MAC_13_0 130000
#define __MAC_13_2 130200
#define __MAC_14_0 140000
#define __MAC_15_0 150000

// What Apple's headers bring along.
#include <time.h>

#include <condition_variable>
#define TRUE 1
#define FALSE 0
typedef unsigned simd_uint3 __attribute__((ext_vector_type(3)));
typedef unsigned long simd_ulong3 __attribute__((ext_vector_type(3)));
#define PAGE_SIZE 16384  // of Apple silicon
inline uint64_t clock_gettime_nsec_np(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
