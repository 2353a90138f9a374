#pragma once

#include <atomic>
#include <cstdint>

namespace mpsprobe {

/// The registers that a walk along frame pointers begins with.
struct FrameStart {
  uint64_t program_counter = 0;
  uint64_t frame_pointer = 0;
  uint64_t link = 0;  ///< return address in a register; 0 where the processor has none
};

/// Writes the program counter and the return addresses of the chain into `frames`, which has room
/// for recorder_layout::kFrames, and raises `count` with each. Reads the stack through the kernel,
/// which refuses a bad address and does not fault; async-signal-safe. macOS alone, where every
/// function keeps the chain.
///
/// A function that calls nothing has no frame of its own: its return address is in the register. In
/// one that has called something the register holds an address within itself, which cannot be told
/// here: who names the functions drops that (stack_evidence.cpp).
void walk_frame_chain(const FrameStart& start, uint64_t* frames, std::atomic<uint32_t>& count);

}  // namespace mpsprobe
