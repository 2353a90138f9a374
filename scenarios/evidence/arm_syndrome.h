#pragma once

#include <signal.h>

#include <cstdint>

namespace mpsprobe {

/// Whether the instruction at which a thread was interrupted is what raised the signal, by what the
/// 64-bit ARM processor noted at its last exception: the syndrome (ESR_EL1, whose upper six bits
/// are the exception's class). False: somebody sent the signal, and the syndrome is that of an
/// exception before it, mostly the system call. The address of that exception tells no more: macOS
/// takes the signal's from it.
constexpr bool is_fault_of_instruction(int signal, uint32_t syndrome) {
  switch (syndrome >> 26) {
    case 0x20:  // instruction abort, from a lower level and from the same
    case 0x21:
    case 0x24:  // data abort
    case 0x25:
      return signal == SIGSEGV || signal == SIGBUS;
    case 0x22:  // alignment of the program counter, of the stack pointer
    case 0x26:
    case 0x1c:  // a signed pointer that is not genuine: bad access by xnu's handle_pac_fail
      return signal == SIGBUS;
    case 0x00:  // unknown instruction, illegal execution state
    case 0x0e:
      return signal == SIGILL;
    case 0x2c:  // floating point
      return signal == SIGFPE;
    case 0x3c:  // brk
      return signal == SIGTRAP;
    default:
      return false;
  }
}

}  // namespace mpsprobe
