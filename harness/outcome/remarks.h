#pragma once

#include <string>
#include <vector>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// What the evidence of a process says beside its judgement, in sentences without a capital letter
/// or a full stop: the address it died of and whether a null pointer explains it, who called malloc
/// when it died there, whether the device of a hung process still answered. These hold numbers of
/// one run, so they are no part of detail or signature. Empty where there is nothing to say. Texts
/// are printable ASCII; still escape them on output. Pure; never throws but for lack of memory.
std::vector<std::string> remarks(const ProcessRecord& process);

}  // namespace mpsprobe
