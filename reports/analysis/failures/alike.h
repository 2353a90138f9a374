#pragma once

#include <string_view>

#include "harness/record/process_record.h"

namespace mpsprobe {

/// Whether two different titles may be one bug: deaths in one function, or texts that share three
/// words or more and most of their words (Dice's coefficient, twice the shared ones by all of them,
/// is 0.7 or more). `basis` of each as the signature has it; what rests on a place alone is like
/// nothing. A hint for a reader, never a reason to count two titles as one. Never throws but for
/// lack of memory; from any thread.
bool may_be_one_bug(std::string_view title, Basis basis, std::string_view other, Basis other_basis);

}  // namespace mpsprobe
