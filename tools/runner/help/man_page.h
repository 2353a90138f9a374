#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/runner/help/command_info.h"

namespace mpsprobe {

/// The page mpsprobe(1), in man's own macros: every command with its options. `exit_codes` are
/// those that all commands share.
std::string man_page(std::string_view description, std::string_view exit_codes,
                     const std::vector<CommandInfo>& commands);

}  // namespace mpsprobe
