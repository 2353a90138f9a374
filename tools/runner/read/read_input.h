#pragma once

#include <cstddef>
#include <string>

namespace mpsprobe {

/// More than a log that tells of one failure holds.
constexpr size_t kMostInputBytes = size_t{16} << 20;

/// The first bytes of a regular file, enough for a line that tells what it is; empty of any other.
/// Never throws but for lack of memory.
std::string first_bytes(const std::string& name);

/// The content of a file, or of standard input for "-". Never reads more than kMostInputBytes and
/// one byte. Throws InputError, naming the place and the remedy, where it cannot be read, is a
/// folder or a device, is empty, is larger, or is no text: other bytes than text's among the first
/// 64 KiB.
std::string read_input(const std::string& name);

}  // namespace mpsprobe
