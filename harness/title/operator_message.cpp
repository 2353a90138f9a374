#include "harness/title/operator_message.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"
#include "harness/title/kernel_name.h"
#include "harness/title/operator_names.h"

namespace mpsprobe {
namespace {

// How a call of an operator is refused hangs on how many overloads a release has.
void mend_refusal(std::string& text) {
  constexpr std::string_view kRefusals[] = {"() missing ",
                                            "() takes ",
                                            "() got an unexpected keyword ",
                                            "() got multiple values for ",
                                            "() got some positional-only ",
                                            "(): argument "};
  const size_t name = ascii::word_length(text);
  if (name == 0 || !is_operator_name(std::string_view(text).substr(0, name))) return;
  const std::string_view rest = std::string_view(text).substr(name);
  const bool refused =
      std::any_of(std::begin(kRefusals), std::end(kRefusals),
                  [rest](std::string_view refusal) { return rest.starts_with(refusal); });
  if (refused)
    text.replace(name, std::string::npos, "() received an invalid combination of arguments");
}

void mend_kernel(std::string& text) {
  const size_t end =
      std::min(text.find(" not implemented for "), text.find("' not implemented for "));
  if (end == std::string::npos) return;
  const std::string_view front = std::string_view(text).substr(0, end);
  const std::string_view shorter = without_kernel_endings(front);
  text.erase(shorter.size(), front.size() - shorter.size());
}

void mend_product(std::string& text) {
  constexpr std::string_view kOperators[] = {"addmm: ", "mm: "};
  constexpr std::string_view kMessages[] = {"mat1 and mat2 ", "self must be a matrix",
                                            "mat2 must be a matrix"};
  for (std::string_view front : kOperators) {
    if (!text.starts_with(front)) continue;
    const std::string_view rest = std::string_view(text).substr(front.size());
    const bool told = std::any_of(std::begin(kMessages), std::end(kMessages),
                                  [rest](std::string_view each) { return rest.starts_with(each); });
    if (told) text.erase(0, front.size());
  }
}

}  // namespace

std::string usual_operator_message(std::string text) {
  mend_product(text);
  mend_refusal(text);
  mend_kernel(text);
  return text;
}

}  // namespace mpsprobe
