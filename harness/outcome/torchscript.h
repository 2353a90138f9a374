#pragma once

#include <string_view>

namespace mpsprobe {

/// How the message of an exception begins that LibTorch's interpreter of scripts passes on. A
/// traceback follows, and the cause on one of the last lines.
constexpr std::string_view kTorchScriptStory = "operation failed in the TorchScript interpreter";

}  // namespace mpsprobe
