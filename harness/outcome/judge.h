#pragma once

#include <string_view>

#include "harness/outcome/outcome.h"

namespace mpsprobe {

/// judge() for a process whose cell is known: the title of a hang then holds the cell's path too.
/// `path` is its word ("nograph"), or empty where the worker chose.
Judgement judge_on_path(const ProcessRecord& process, std::string_view path);

}  // namespace mpsprobe
