#include "harness/title/system_error.h"

#include <algorithm>
#include <iterator>

namespace mpsprobe {
namespace {

constexpr std::string_view kErrors[] = {"Address already in use",
                                        "Bad address",
                                        "Bad file descriptor",
                                        "Broken pipe",
                                        "Cannot allocate memory",
                                        "Connection refused",
                                        "Connection reset by peer",
                                        "Connection timed out",
                                        "Device or resource busy",
                                        "Device not configured",
                                        "Exec format error",
                                        "File exists",
                                        "File too large",
                                        "Input/output error",
                                        "Invalid argument",
                                        "Is a directory",
                                        "No child processes",
                                        "No space left on device",
                                        "No such device",
                                        "No such file or directory",
                                        "No such process",
                                        "Not a directory",
                                        "Operation not permitted",
                                        "Operation timed out",
                                        "Out of memory",
                                        "Permission denied",
                                        "Read-only file system",
                                        "Resource busy",
                                        "Resource temporarily unavailable",
                                        "Text file busy",
                                        "Too many open files"};

}  // namespace

bool begins_with_system_error(std::string_view text) {
  return std::any_of(std::begin(kErrors), std::end(kErrors),
                     [text](std::string_view error) { return text.starts_with(error); });
}

bool ends_with_system_error(std::string_view text) {
  return std::any_of(std::begin(kErrors), std::end(kErrors),
                     [text](std::string_view error) { return text.ends_with(error); });
}

}  // namespace mpsprobe
