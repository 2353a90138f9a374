#pragma once

#include <cstdint>
#include <memory>

#include "scenarios/sim/metal.h"

namespace mpsprobe::sim {

/// How a stream calls Metal: the device's own objects, or the same calls through Apple's classes,
/// which the stand-in makes where they are to be seen. Holds one command buffer and one encoder at
/// a time. All but queue() belong into a block of the stream's serial queue.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual metal::CommandQueue& queue() = 0;
  /// The next command buffer, in place of the one before.
  virtual std::shared_ptr<metal::CommandBuffer> begin() = 0;
  virtual metal::Encoder& open(metal::EncoderKind kind) = 0;
  /// Ends what open() gave last.
  virtual void end() = 0;
  /// Commits the command buffer; returns when the device has done it.
  virtual void commit() = 0;

  /// What PyTorch hands out of them, as Objective-C objects where there are any; null for what is
  /// not there. Device and queue on any thread.
  enum class Part : uint8_t { device, queue, buffer, encoder };
  virtual void* handed(Part part) = 0;
};

using MakeRecorder = std::unique_ptr<Recorder> (*)();

/// Streams that are used for the first time from now on take theirs from there. Any thread.
void record_with(MakeRecorder make);

/// What `record_with` was given makes it; else one of the device's own objects.
std::unique_ptr<Recorder> make_recorder(metal::Device& device);

}  // namespace mpsprobe::sim
