#include "scenarios/metal/objective_c.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace mpsprobe::metal {
namespace {

// A function of its own: see objective_c.h on what must not stand beside @catch.
std::optional<std::string> reason_for_exception_in(const std::function<void()>& work) {
  @try {
    work();
  } @catch (NSException* exception) {
    NSString* const text = [exception reason] == nil ? [exception name] : [exception reason];
    return std::string([text UTF8String]);
  }
  return std::nullopt;
}

}  // namespace

void with_objc_exceptions(const std::function<void()>& work) {
  const std::optional<std::string> reason = reason_for_exception_in(work);
  if (reason.has_value()) throw std::runtime_error(*reason);
}

}  // namespace mpsprobe::metal
