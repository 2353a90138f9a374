// Breaks or keeps one of Metal's rules: shows that what is underneath enforces them, and that the
// same work is possible without breaking any.
//   metal_rules list              the rules as a Markdown table
//   metal_rules break RULE        dies of it (SIGABRT) where the rule is enforced; otherwise 1
//   metal_rules keep RULE [TIMES] 0 where every time came out right, otherwise 1
// 2: wrong usage. 3: no device, or one that lacks what the rule is about.
#import <Foundation/Foundation.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/sim/face/testdata/workbench.h"

namespace mpsprobe::metal_rules {
namespace {

constexpr int kLongest = 1000000;

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const auto& group : {thread_rules(), command_buffer_rules(), encoder_rules(),
                            pipeline_rules(), memory_rules(), graph_rules()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

int list() {
  std::puts("| rule | broken by a program that | what it prints | text | documented |\n"
            "|---|---|---|---|---|");
  for (const Rule& rule : all_rules()) {
    std::printf("| `%s` | %s | ``%s`` | %s | [%s](%s) |\n", rule.name, rule.misuse, rule.text,
                rule.apples_text ? "Apple's" : "ours", rule.documented, rule.address);
  }
  return 0;
}

int break_rule(const Rule& rule) {
  const rlimit no_core{0, 0};  // dying is what it is for
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(30);  // where nothing objects, some of them wait for what never comes
  @autoreleasepool {
    rule.breaks();
  }
  std::fprintf(stderr, "metal_rules: %s was broken, and nothing objected\n", rule.name);
  return 1;
}

int keep_rule(const Rule& rule, int times) {
  for (int i = 0; i < times; ++i) {
    @autoreleasepool {
      const std::string problem = rule.keeps();
      if (!problem.empty()) {
        std::fprintf(stderr, "metal_rules: %s, time %d of %d: %s\n", rule.name, i + 1, times,
                     problem.c_str());
        return 1;
      }
    }
  }
  std::printf("%s: kept %d of %d times, results right\n", rule.name, times, times);
  return 0;
}

int usage() {
  std::fputs("Usage: metal_rules list | break RULE | keep RULE [TIMES, 1 to 1000000]\n", stderr);
  return 2;
}

/// 1 where the argument is missing, 0 where it is no number in range.
int times_of(const char* argument) {
  if (argument == nullptr) return 1;
  char* end = nullptr;
  const long times = std::strtol(argument, &end, 10);
  return end != argument && *end == '\0' && times >= 1 && times <= kLongest
             ? static_cast<int>(times)
             : 0;
}

int run_program(const std::vector<const char*>& arguments) {
  const std::string_view command = arguments.empty() ? "" : arguments[0];
  if (command == "list" && arguments.size() == 1) return list();
  const bool breaks = command == "break" && arguments.size() == 2;
  const bool keeps = command == "keep" && (arguments.size() == 2 || arguments.size() == 3);
  if (!breaks && !keeps) return usage();
  const int times = times_of(arguments.size() == 3 ? arguments[2] : nullptr);
  if (times == 0) return usage();
  for (const Rule& rule : all_rules()) {
    if (std::string_view(arguments[1]) != rule.name) continue;
    return breaks ? break_rule(rule) : keep_rule(rule, times);
  }
  std::fprintf(stderr, "metal_rules: no rule '%s'. See: metal_rules list\n", arguments[1]);
  return 2;
}

}  // namespace
}  // namespace mpsprobe::metal_rules

int main(int argc, char** argv) {
  return mpsprobe::metal_rules::run_program({argv + 1, argv + argc});
}
