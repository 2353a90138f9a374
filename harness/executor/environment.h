#pragma once

#include <string>
#include <vector>

#include "harness/platform/system.h"
#include "harness/wire/cell.h"

namespace mpsprobe {

/// The environment of a worker, as K=V: `inherited` without the switches that a cell decides, then
/// those that the cell asks for, its axis `env` last, then `extra` (--env), which wins. On macOS
/// one more, unless anybody set it, which has libmalloc's last words come to a pipe. With
/// sanitizer=thread what is in TSAN_OPTIONS stands behind the options that the runner sets. It is
/// complete before the process starts: a library that is already loaded does not read it again.
std::vector<std::string> worker_environment(const Cell& cell,
                                            const std::vector<std::string>& inherited,
                                            const std::vector<std::string>& extra,
                                            System system = kSystem);

/// Whether the text of a process shows the banner of the validation layer that the cell asks for.
/// True where it asks for none.
bool validation_in_force(const Cell& cell, const std::string& text);

/// Which of Metal's validation layers announced themselves in the text of a process, whatever the
/// cell asks for.
struct ValidationSeen {
  bool api = false;
  bool shader = false;
};
ValidationSeen validation_seen(const std::string& text);

/// The environment of this process, as K=V.
std::vector<std::string> inherited_environment();

}  // namespace mpsprobe
