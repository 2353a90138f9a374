#include "harness/signature/rules.h"

#include "harness/signature/rule_file.h"

namespace mpsprobe {

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
