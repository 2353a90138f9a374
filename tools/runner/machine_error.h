#pragma once

#include <stdexcept>

namespace mpsprobe {

/// The harness or the machine cannot do what was asked (exit code 3). The message says what was
/// wrong, where, and what to do.
class MachineError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace mpsprobe
