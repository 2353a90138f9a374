#pragma once

#include <cstddef>

namespace mpsprobe::report_limits {

// A report is a file that anybody may have put there. What is beyond these bounds is cut or
// refused; they lie well above anything that a system writes.
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr int kMostDepth = 64;  ///< of JSON values within one another
constexpr size_t kMostValues = 2'000'000;
constexpr size_t kMostKeys = 512;  ///< of one JSON object
constexpr size_t kMostImages = 8192;
constexpr size_t kMostThreads = 512;
constexpr size_t kMostFrames = 512;  ///< of one thread; an overflowed stack is reported with 511
constexpr size_t kMostFramesInAll = 16384;   ///< of one report: each frame copies its image's name
constexpr size_t kMostNameBytes = 256;       ///< of an image, a source file or a thread
constexpr size_t kMostFunctionBytes = 1024;  ///< demangled, with the arguments of templates
constexpr size_t kMostTexts = 64;            ///< of one list of texts
constexpr size_t kMostTextBytes = 16384;

}  // namespace mpsprobe::report_limits
