#pragma once

#include <functional>

namespace mpsprobe {

/// Runs `work`; an NSException that it raises is thrown on as std::runtime_error with the reason
/// that the exception gives.
void with_objc_exceptions(const std::function<void()>& work);

}  // namespace mpsprobe
