#include "harness/outcome/misuse_frames.h"

#include "harness/signature/function_name.h"
#include "harness/signature/passing_frames.h"
#include "harness/signature/rules.h"

namespace mpsprobe {

std::string_view misuse_title(const std::vector<StackFrame>& frames) {
  for (const StackFrame& frame : frames) {
    const std::string image = normalise_image(frame.image);
    const std::string function = normalise_function(frame.function);
    for (const MisuseFrame& row : Rules::standard().misuses) {
      if (function == row.function && (row.image.empty() || image == row.image)) return row.title;
    }
    if (find_passing_frame(image, function) == nullptr) break;
  }
  return {};
}

}  // namespace mpsprobe
