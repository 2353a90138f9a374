#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/stack/stack.h"
#include "harness/wire/flight_recorder.h"

namespace mpsprobe {

class ImageSymbols;

/// Names the functions at addresses of images that another process had loaded, from the image
/// files: ELF by elfutils' libdw, Mach-O by its own symbol table. Opens each image once and
/// remembers every answer. Safe to use from several threads. An image whose file is gone or has
/// another id by now is not used: its frames keep image, id and offset.
class Symboliser {
 public:
  Symboliser();
  Symboliser(const Symboliser&) = delete;
  Symboliser& operator=(const Symboliser&) = delete;
  ~Symboliser();

  /// The frames of a stack whose first address is a program counter and whose others are return
  /// addresses (looked up one byte earlier, inside the call). Where functions were inlined, an
  /// address becomes several frames, the innermost first. Never throws but for lack of memory.
  std::vector<StackFrame> symbolise(const std::vector<FrameAddress>& addresses);

 private:
  using Image = std::pair<std::string, std::string>;  ///< path and id

  const std::vector<StackFrame>& named(const Image& image, uint64_t offset);
  ImageSymbols* symbols_of(const Image& image);

  std::mutex mutex_;
  /// Null for an image that cannot be used: the file is not looked at again.
  std::map<Image, std::unique_ptr<ImageSymbols>> images_;
  std::map<std::pair<Image, uint64_t>, std::vector<StackFrame>> places_;
};

/// A name as C++ compilers write it for linkers ("_Z..."), taken apart by the compiler's own
/// library; empty where it is none. Never throws but for lack of memory; may be called from any
/// thread.
std::string demangled(const std::string& mangled);

/// Without the second frame, where it lies in the same function as the first. A walk along frame
/// pointers takes the link register for the caller of a function that calls nothing; in one that
/// has called something the register still holds an address within the function. One step of a true
/// recursion goes with it.
std::vector<FrameAddress> without_stale_link(std::vector<FrameAddress> frames,
                                             Symboliser& symboliser);

/// The stacks that the flight recorder holds, symbolised: of a crash the faulting thread's, of a
/// hang every thread's with what it waits for and the cycle of locks, where there is one.
StackEvidence stack_evidence(const RecorderReading& recorder, Symboliser& symboliser);

/// thread_ids of threads that wait for one another in a circle, each for the next, the last for the
/// first; empty where there is none. Waits name at most one owner each, so a thread is in at most
/// one circle; of several circles it is the one that the first possible thread of `threads` is in,
/// and that thread begins it. A thread that waits for itself is a circle of one.
std::vector<uint64_t> lock_cycle(const std::vector<ThreadStack>& threads);

}  // namespace mpsprobe
