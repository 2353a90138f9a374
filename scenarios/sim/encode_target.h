#pragma once

#include <string_view>

#include "scenarios/sim/metal.h"

namespace mpsprobe::sim {

/// What an encode goes into, as far as a defect can get at it. Any thread that may encode.
class EncodeTarget {
 public:
  virtual ~EncodeTarget() = default;
  virtual metal::CommandQueue& queue() = 0;
  /// Makes the command buffer that is being filled fail on the device: what it holds is lost.
  virtual void fail_current(std::string_view reason) = 0;
};

}  // namespace mpsprobe::sim
