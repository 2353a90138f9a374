#include "scenarios/selftest/selftest_program.h"

#include <algorithm>
#include <string>

#include "harness/wire/event.h"
#include "harness/wire/honoured_axes.h"
#include "scenarios/selftest/misbehaviour.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "selftest.";

class SelftestLane : public Lane {
 public:
  /// Misbehaves in the iteration `when`; never where it is negative.
  SelftestLane(const Misbehaviour& misbehaviour, int when, int thread, int threads)
      : misbehaviour_(misbehaviour), when_(when), thread_(thread), threads_(threads) {}

  std::string operation() const override { return std::string(misbehaviour_.name); }
  void launch(int iteration) override {
    const bool now = misbehaviour_.stage == Stage::launch && iteration == when_;
    if (now || misbehaviour_.stage == Stage::every_launch) misbehaviour_.happen(thread_, threads_);
    ++launched_;
  }
  void synchronise() override {}
  CheckResult check() override {
    CheckResult result;
    result.checked = launched_;
    if (when_ >= 0 && misbehaviour_.stage == Stage::check) {
      result.wrong_iteration = when_;
      result.difference = "element 0: expected 1, got 2, tolerance 0";
    }
    return result;
  }

 private:
  const Misbehaviour& misbehaviour_;
  int when_;
  int thread_;
  int threads_;
  uint64_t launched_ = 0;
};

class SelftestWorkload : public Workload {
 public:
  SelftestWorkload(const Misbehaviour& misbehaviour, const Cell& cell)
      : misbehaviour_(misbehaviour),
        culprit_(cell.threads - 1),
        when_(cell.lifetime == Lifetime::fresh ? 0 : cell.iterations / 2) {
    act_at(Stage::make);
  }
  SelftestWorkload(const SelftestWorkload&) = delete;
  SelftestWorkload& operator=(const SelftestWorkload&) = delete;
  ~SelftestWorkload() override { act_at(Stage::teardown); }

  void touch_device() override { act_at(Stage::touch); }
  std::unique_ptr<Lane> make_lane(int thread) override {
    const bool acts = thread == culprit_ || misbehaviour_.act_together != nullptr;
    return std::make_unique<SelftestLane>(misbehaviour_, acts ? when_ : -1, thread, culprit_ + 1);
  }
  void settle() override {}
  std::string observed_path() override { return "none"; }

 private:
  void act_at(Stage stage) {
    if (misbehaviour_.stage == stage) misbehaviour_.happen(culprit_, culprit_ + 1);
  }

  const Misbehaviour& misbehaviour_;
  int culprit_;
  int when_;
};

}  // namespace

bool is_selftest(const Cell& cell) {
  return cell.op.starts_with(kPrefix);
}

std::unique_ptr<Workload> make_selftest(const Cell& cell, std::span<const Misbehaviour> more) {
  for (const auto all : {misbehaviours(), more}) {
    const auto at = std::find_if(all.begin(), all.end(), [&cell](const Misbehaviour& misbehaviour) {
      return is_selftest(cell) && cell.op.substr(kPrefix.size()) == misbehaviour.name;
    });
    if (at != all.end()) return std::make_unique<SelftestWorkload>(*at, cell);
  }
  throw UnsupportedError("this worker has no operation " + cell.op);
}

json describe_selftest(std::span<const Misbehaviour> more) {
  json operations = json::array();
  const auto add = [&operations](const Misbehaviour& misbehaviour) {
    operations.push_back({{"name", std::string(kPrefix) + std::string(misbehaviour.name)},
                          {"summary", misbehaviour.summary},
                          {"source", "self-test"},
                          {"paths", {"default"}},
                          {"has_parameters", false},
                          {"dtypes", {"default"}},
                          {"shape", "default"},
                          {"dimensions", ""},
                          {"axes", loop_axes()},  // whatever lanes of real operations honour
                          {"backends", {"cpu"}}});
  };
  for (const Misbehaviour& misbehaviour : misbehaviours()) add(misbehaviour);
  for (const Misbehaviour& misbehaviour : more) add(misbehaviour);
  return operations;
}

json SelftestProgram::describe() {
  return {{"mpsprobe_worker", kProtocolVersion},
          {"version", MPSPROBE_VERSION},
          {"operations", describe_selftest()},
          {"known_good", std::string(kPrefix) + "pass"},
          {"backends",
           {{{"name", "cpu"},
             {"available", true},
             {"simulated", false},
             {"device", "none: self-tests only"},
             {"reason", ""}}}},
          {"provenance", provenance(Cell{})}};
}

json SelftestProgram::provenance(const Cell&) {
  return {{"worker_version", MPSPROBE_VERSION}, {"device", "none: self-tests only"}};
}

std::unique_ptr<Workload> SelftestProgram::make_workload(const Cell& cell, uint64_t) {
  if (cell.backend != Backend::cpu) {
    throw UnsupportedError("self-tests run on the backend cpu alone");
  }
  return make_selftest(cell);
}

}  // namespace mpsprobe
