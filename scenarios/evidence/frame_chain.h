#pragma once

#include <atomic>
#include <cstdint>

namespace mpsprobe {

/// The registers that a walk along frame pointers begins with.
struct FrameStart {
  uint64_t program_counter = 0;
  uint64_t frame_pointer = 0;
  uint64_t link = 0;  ///< return address in a register; 0 where the processor has none
  uint64_t call = 0;  ///< where a call that has just been made left it on the stack; 0: nowhere
};

/// A frame as the procedure call standard lays it out.
struct FrameRecord {
  uint64_t caller = 0;  ///< the caller's frame pointer
  uint64_t return_address = 0;
};

/// Reads the frame at an address; false where nothing can be read there. Async-signal-safe.
using ReadFrame = bool (*)(uint64_t address, FrameRecord& record);

/// Writes the program counter and the return addresses of the chain into `frames`, which has room
/// for recorder_layout::kFrames, and raises `count` with each. Signatures of signed pointers are
/// taken off. Async-signal-safe.
///
/// A function that calls nothing has no frame of its own: its return address is in the register. In
/// one that has called something the register holds an address within itself, which cannot be told
/// here: who names the functions drops that (stack_evidence.cpp).
void walk_frame_chain(const FrameStart& start, ReadFrame read, uint64_t* frames,
                      std::atomic<uint32_t>& count);

/// The same on the stack of a thread of this process, read through the kernel, which refuses a bad
/// address and does not fault. macOS alone, where every function keeps the chain.
void walk_frame_chain(const FrameStart& start, uint64_t* frames, std::atomic<uint32_t>& count);

}  // namespace mpsprobe
