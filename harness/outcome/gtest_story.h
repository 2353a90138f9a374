#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// What GoogleTest says of the first test that failed: the message of the exception that left its
/// body, else the expectation that did not hold, in one line. Empty where `printed` tells of no
/// failed test, or of one that says nothing (it has printed its own words in front).
/// GoogleTest's own format: https://google.github.io/googletest/primer.html#assertions. Looks at
/// the first 256 KiB. Throws only for lack of memory; may be called from any thread.
std::string failed_gtest(std::string_view printed);

}  // namespace mpsprobe
