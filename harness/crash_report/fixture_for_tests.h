#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace mpsprobe {

/// The content of a file of this folder's testdata/. For tests.
inline std::string fixture(const std::string& name) {
  std::ifstream file(MPSPROBE_SOURCE_DIR "/harness/crash_report/testdata/" + name,
                     std::ios::binary);
  if (!file) throw std::runtime_error("no fixture " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mpsprobe
