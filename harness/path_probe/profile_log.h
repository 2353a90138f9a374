#pragma once

#include <string>
#include <string_view>

namespace mpsprobe {

/// What LibTorch's MPS profiler reads, and the value with which it prints each operation to stderr
/// as it is encoded: LogOptions::OPERATION_INFO of ATen/mps/MPSProfiler.h (2.9.0 and 2.15.0).
inline constexpr std::string_view kProfileLogVariable = "PYTORCH_MPS_LOG_PROFILE_INFO";
inline constexpr std::string_view kProfileLogOperations = "1";

/// The path that an operation took, as far as that was seen.
struct PathSeen {
  std::string path;  ///< "graph", "nograph", or "not observed"
  std::string why;   ///< for people: why it was not observed; else empty
};

/// The path that aten::linear took, which is the operation that the axis `path` is of: from the
/// stderr of a process in which LibTorch's profile log was on. A line of the log is
/// "aten::KEY (id=G1, run=2)" for an MPSGraph and "(id=K1, run=2)" for a kernel
/// (OperationInfo::toString of 2.9.0 and 2.15.0); KEY begins with "mps_linear" for both paths of
/// linear. Everything else in the text is passed over, a line of over 4,096 bytes too; it may be of
/// any length and hold any bytes.
PathSeen path_in_profile_log(std::string_view log);

}  // namespace mpsprobe
