#include "harness/signature/rules.h"

#include "harness/signature/rule_file.h"

namespace mpsprobe {

std::string_view name_of(TextClass text_class) {
  switch (text_class) {
    case TextClass::assertion:
      return "assertion";
    case TextClass::exception:
      return "exception";
    case TextClass::gpu_error:
      return "gpu_error";
    case TextClass::out_of_memory:
      return "out_of_memory";
    case TextClass::setup_failed:
      return "setup_failed";
    case TextClass::unsupported:
      return "unsupported";
    case TextClass::memory_corruption:
      return "memory_corruption";
    case TextClass::abort_message:
      return "abort_message";
  }
  return "abort_message";
}

bool ends_the_process(TextClass text_class) {
  return text_class == TextClass::assertion || text_class == TextClass::memory_corruption ||
         text_class == TextClass::abort_message;
}

const Rules& Rules::standard() {
  static const Rules rules = [] {
    Rules read;
    for (const RuleFile& file : rule_files()) read_rules(file, read);
    return read;
  }();
  return rules;
}

}  // namespace mpsprobe
