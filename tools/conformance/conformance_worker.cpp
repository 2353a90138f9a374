// A worker whose operations are the rules of docs/protocol.md: each trial holds another worker
// against one of them. What it finds is a trial like any other, counted and reported.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "scenarios/worker/run_worker.h"
#include "tools/conformance/rules.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "conformance.";
constexpr const char* kOf = "MPSPROBE_CONFORMANCE_OF";

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const auto some : {rules_of_life(), rules_of_threads(), rules_of_numbers()}) {
    rules.insert(rules.end(), some.begin(), some.end());
  }
  return rules;
}

Subject subject() {
  const char* const path = std::getenv(kOf);
  if (path == nullptr || *path == '\0') {
    throw SetupError(std::string(kOf) +
                     " names no worker. Run: mpsprobe run --matrix conformance --worker NAME=PATH");
  }
  try {
    return Subject(path);
  } catch (const std::exception& error) {
    throw SetupError(error.what());
  }
}

class RuleLane : public Lane {
 public:
  RuleLane(const Rule& rule, const Subject& subject) : rule_(rule), subject_(subject) {}
  std::string operation() const override { return std::string(kPrefix) + std::string(rule_.name); }
  void launch(int) override {
    try {
      if (const std::string found = rule_.broken(subject_); !found.empty()) {
        throw std::runtime_error("the worker breaks the protocol: " + found);
      }
    } catch (const NotSeen& why) {
      throw UnsupportedError(std::string("cannot be seen on this worker: ") + why.what());
    }
  }
  void synchronise() override {}
  CheckResult check() override { return {.checked = 1}; }

 private:
  Rule rule_;
  const Subject& subject_;
};

class RuleWorkload : public Workload {
 public:
  RuleWorkload(const Rule& rule, const Cell& cell) : rule_(rule), subject_(subject()) {
    try {
      subject_.use_backend(cell.backend);
    } catch (const NotSeen& why) {
      throw UnsupportedError(why.what());
    }
  }
  void touch_device() override {}
  std::unique_ptr<Lane> make_lane(int) override {
    return std::make_unique<RuleLane>(rule_, subject_);
  }
  void settle() override {}
  std::string observed_path() override { return "none"; }

 private:
  Rule rule_;
  Subject subject_;
};

class ConformanceProgram : public WorkerProgram {
 public:
  json describe() override {
    json operations = json::array();
    for (const Rule& rule : all_rules()) {
      operations.push_back({{"name", std::string(kPrefix) + std::string(rule.name)},
                            {"summary", std::string("a worker ") + std::string(rule.summary)},
                            {"source", "docs/protocol.md"},
                            {"paths", {"default"}},
                            {"has_parameters", false},
                            {"dtypes", {"default"}},
                            {"shape", "default"},
                            {"dimensions", ""}});
    }
    const json described = subject().describe();
    json backends = described.value("backends", json::array());
    for (json& backend : backends) backend.erase("axes");
    return {{"mpsprobe_worker", kProtocolVersion}, {"version", MPSPROBE_VERSION},
            {"known_good", "conformance.ending"},  {"axes", {"iterations"}},
            {"operations", std::move(operations)}, {"backends", std::move(backends)},
            {"provenance", provenance(Cell{})}};
  }
  json provenance(const Cell&) override {
    const char* const of = std::getenv(kOf);
    return {{"worker_version", MPSPROBE_VERSION},
            {"device", std::string("the worker ") + (of == nullptr ? "" : of)}};
  }
  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t) override {
    for (const Rule& rule : all_rules()) {
      if (cell.op == std::string(kPrefix) + std::string(rule.name)) {
        return std::make_unique<RuleWorkload>(rule, cell);
      }
    }
    throw UnsupportedError("there is no rule of conformance that is called " + cell.op);
  }
};

}  // namespace
}  // namespace mpsprobe

int main(int argc, char** argv) {
  // On the heap and never freed: it is used until the process has ended.
  auto* const program = new mpsprobe::ConformanceProgram;
  try {
    return mpsprobe::run_worker(argc, argv, *program);
  } catch (const std::exception& error) {  // of `describe`
    std::fprintf(stderr, "mpsprobe-conformance-worker: %s\n", error.what());
    return 3;
  }
}
