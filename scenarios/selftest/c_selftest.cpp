#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/input/json_text.h"
#include "scenarios/selftest/misbehaviour.h"

// libmpsprobe_selftest: the misbehaviours for a worker of another language, so that it dies in the
// same functions as ours. They may be called from any thread.

namespace mpsprobe {
namespace {

std::string described_misbehaviours() {
  nlohmann::json all = nlohmann::json::array();
  for (const Misbehaviour& each : misbehaviours()) {
    all.push_back({{"name", each.name},
                   {"summary", each.summary},
                   {"stage", name_of(each.stage)},
                   {"together", each.act_together != nullptr}});
  }
  return json_text(all);
}

}  // namespace
}  // namespace mpsprobe

/// All of them, as JSON: name, summary, stage, together (every thread takes part).
extern "C" __attribute__((visibility("default"))) const char* mpsprobe_misbehaviours() {
  static const std::string kAll = mpsprobe::described_misbehaviours();
  return kAll.c_str();
}

/// Does what the misbehaviour `name` does on this thread; nothing where there is none.
extern "C" __attribute__((visibility("default"))) void mpsprobe_misbehave(const char* name,
                                                                          int thread, int threads) {
  const auto all = mpsprobe::misbehaviours();
  const auto at = std::find_if(all.begin(), all.end(), [name](const mpsprobe::Misbehaviour& each) {
    return each.name == name;
  });
  if (at != all.end()) at->happen(thread, threads);
}
