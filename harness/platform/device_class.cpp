#include "harness/platform/device_class.h"

#include <algorithm>
#include <array>

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 3> kMarks{"Apple Paravirtual", "(Virtual)", "VirtualMac"};

}  // namespace

bool names_paravirtual(std::string_view name) {
  return std::any_of(kMarks.begin(), kMarks.end(), [name](std::string_view mark) {
    return name.find(mark) != std::string_view::npos;
  });
}

}  // namespace mpsprobe
