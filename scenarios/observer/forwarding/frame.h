#pragma once

#include <array>
#include <cstdint>

namespace mpsprobe::observer {

/// What a caller left in registers and on its stack when it called a method, as stubs.cpp saves it
/// (which knows these offsets), and after the call what the method returned in registers.
struct alignas(16) Frame {
  /// x86-64: rdi, rsi, rdx, rcx, r8, r9, rax, r10; arm64: x0 to x7. Afterwards rax and rdx, or x0
  /// and x1, come first.
  std::array<uintptr_t, 8> integers;
  std::array<uintptr_t, 2> more;  ///< arm64: x8, where a result goes that lies in memory
  std::array<std::array<uint64_t, 2>, 8> vectors;  ///< xmm0 to 7, or q0 to q7
  const uintptr_t* stack;                          ///< the arguments that are not in registers
  uintptr_t return_address;                        ///< into the caller
  uintptr_t caller;                                ///< its frame pointer, if it keeps one
};

#if defined(__x86_64__)
constexpr int kIntegerArguments = 6;
#elif defined(__aarch64__)
constexpr int kIntegerArguments = 8;
#else
#error "The observer forwards calls on x86-64 and arm64 alone."
#endif
constexpr int kVectorArguments = 8;

/// What a register holds, as an address.
inline void* pointer(uintptr_t held) {
  return reinterpret_cast<void*>(held);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace mpsprobe::observer
