#include "scenarios/objective_c/exceptions.h"

#import <Foundation/Foundation.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace mpsprobe {
namespace {

// A function of its own: with gcc's runtime one that has @catch must not catch C++ exceptions
// besides.
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

}  // namespace mpsprobe
