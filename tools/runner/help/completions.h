#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/runner/help/command_info.h"

namespace mpsprobe {

/// A script with which a shell ("bash", "zsh" or "fish") completes commands, options and values.
/// Values that depend on the installation (matrices, operations, profiles) are asked for when they
/// are completed.
std::string completions(std::string_view shell, const std::vector<CommandInfo>& commands);

}  // namespace mpsprobe
