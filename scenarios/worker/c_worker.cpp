#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/input/json_text.h"
#include "harness/wire/axis.h"
#include "harness/wire/honoured_axes.h"
#include "scenarios/worker/include/mpsprobe/worker.h"
#include "scenarios/worker/run_worker.h"
#include "scenarios/worker/workload.h"

struct mpsprobe_cell {
  std::map<std::string, std::string, std::less<>> values;
};

namespace mpsprobe {
namespace {

/// A longer one would not fit into an event.
constexpr size_t kMostExplanation = size_t{1} << 16;
thread_local std::string explanation;

/// Throws what a status other than MPSPROBE_OK stands for.
void require(mpsprobe_status status) {
  if (status == MPSPROBE_OK) return;
  std::string text = std::exchange(explanation, "");
  if (text.empty()) text = "status " + std::to_string(status) + ", without mpsprobe_explain";
  switch (status) {
    case MPSPROBE_WRONG_RESULT:
      throw WrongResultError(text);
    case MPSPROBE_GPU_ERROR:
      throw GpuError(text);
    case MPSPROBE_OUT_OF_MEMORY:
      throw OutOfMemoryError(text);
    case MPSPROBE_UNSUPPORTED:
      throw UnsupportedError(text);
    case MPSPROBE_SETUP_FAILED:
      throw SetupError(text);
    default:
      throw std::runtime_error(text);
  }
}

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

class CLane : public Lane {
 public:
  CLane(const mpsprobe_worker& worker, void* lane, std::string operation)
      : worker_(worker), lane_(lane), operation_(std::move(operation)) {}
  CLane(const CLane&) = delete;
  CLane& operator=(const CLane&) = delete;
  ~CLane() override {
    if (worker_.free_lane != nullptr) worker_.free_lane(lane_);
  }
  std::string operation() const override {
    return worker_.operation == nullptr ? operation_
                                        : text_or(worker_.operation(lane_), operation_.c_str());
  }
  void enter() override {
    if (worker_.enter != nullptr) require(worker_.enter(lane_));
  }
  void launch(int iteration) override { require(worker_.launch(lane_, iteration)); }
  void synchronise() override {
    if (worker_.synchronise != nullptr) require(worker_.synchronise(lane_));
  }
  void leave() override {
    if (worker_.leave != nullptr) worker_.leave(lane_);
  }
  CheckResult check() override {
    mpsprobe_checked checked{0, 0, -1};
    if (worker_.check != nullptr) require(worker_.check(lane_, &checked));
    return {checked.checked, checked.unchecked, checked.wrong_iteration,
            std::exchange(explanation, "")};
  }

 private:
  const mpsprobe_worker& worker_;
  void* lane_;
  std::string operation_;
};

class CWorkload : public Workload {
 public:
  CWorkload(const mpsprobe_worker& worker, void* workload, std::string operation)
      : worker_(worker), workload_(workload), operation_(std::move(operation)) {}
  CWorkload(const CWorkload&) = delete;
  CWorkload& operator=(const CWorkload&) = delete;
  ~CWorkload() override {
    if (worker_.free_workload != nullptr) worker_.free_workload(workload_);
  }
  void touch_device() override {
    if (worker_.touch_device != nullptr) require(worker_.touch_device(workload_));
  }
  std::unique_ptr<Lane> make_lane(int thread) override {
    void* lane = nullptr;
    require(worker_.make_lane(workload_, thread, &lane));
    return std::make_unique<CLane>(worker_, lane, operation_);
  }
  void settle() override {
    if (worker_.settle != nullptr) require(worker_.settle(workload_));
  }
  void wait_beside() override {
    if (worker_.wait_beside == nullptr) return Workload::wait_beside();
    require(worker_.wait_beside(workload_));
  }
  std::string observed_path() override {
    const char* path =
        worker_.observed_path == nullptr ? nullptr : worker_.observed_path(workload_);
    return text_or(path, "not observed");
  }

 private:
  const mpsprobe_worker& worker_;
  void* workload_;
  std::string operation_;
};

struct Body {
  std::function<void()> run;
  static void call(void* body) {
    const std::unique_ptr<Body> own(static_cast<Body*>(body));
    own->run();
  }
};

class CProgram : public WorkerProgram {
 public:
  explicit CProgram(const mpsprobe_worker& worker) : worker_(worker) {}

  void begin() override {
    if (worker_.begin != nullptr) worker_.begin(worker_.context);
  }
  nlohmann::json describe() override {
    nlohmann::json answer = parse(worker_.describe(worker_.context), "describe");
    add_loop_axes(answer, true);
    for (const char* list : {"backends", "operations"}) {
      if (!answer.contains(list) || !answer[list].is_array()) continue;
      for (nlohmann::json& entry : answer[list]) add_loop_axes(entry, false);
    }
    return answer;
  }
  nlohmann::json provenance(const Cell& cell) override {
    return parse(worker_.provenance(worker_.context, to_string(cell).c_str()), "provenance");
  }
  std::unique_ptr<Workload> make_workload(const Cell& cell, uint64_t seed) override {
    if (cell.meet == Meet::stage) {
      throw UnsupportedError("meet=stage: " + cell.op + " has no stages. Use meet=launch");
    }
    auto* const values = new mpsprobe_cell;  // until the process has ended
    for (const Axis& axis : axes()) values->values.emplace(axis.name, axis.read(cell));
    void* workload = nullptr;
    require(worker_.make_workload(worker_.context, values, seed, &workload));
    return std::make_unique<CWorkload>(worker_, workload, cell.op);
  }
  StartThread thread_starter(const Cell& cell) override {
    if (!has_own_threads()) return WorkerProgram::thread_starter(cell);
    return [this](uint32_t slot, std::function<void()> body) -> JoinThread {
      const auto ended = std::make_shared<std::atomic<bool>>(false);
      auto own = std::make_unique<Body>(Body{[body = std::move(body), ended] {
        body();
        ended->store(true);
      }});
      void* thread = nullptr;
      require(worker_.start_thread(worker_.context, static_cast<int32_t>(slot), Body::call,
                                   own.get(), &thread));
      [[maybe_unused]] const auto* const freed_by_the_thread = own.release();
      return [this, thread, ended] {
        // The language may end the wait before the thread: nothing here may go on beside it.
        do worker_.join_thread(worker_.context, thread);
        while (!ended->load());
      };
    };
  }
  size_t thread_stack() override { return has_own_threads() ? 0 : WorkerProgram::thread_stack(); }
  bool times_launches() const override { return has_own_threads(); }
  bool ends_interpreter() const override { return true; }

 private:
  bool has_own_threads() const {
    return worker_.start_thread != nullptr && worker_.join_thread != nullptr;
  }
  static nlohmann::json parse(const char* text, const char* callback) {
    nlohmann::json value = parsed_if_json(text_or(text, ""));
    if (value.is_object()) return value;
    const std::string why = std::exchange(explanation, "");
    throw SetupError(
        !why.empty() ? why : std::string(callback) + ": the worker's text is no JSON object");
  }

  /// What the loop honours, for those that say which axes their lanes do. The list of the worker is
  /// there in any case.
  void add_loop_axes(nlohmann::json& entry, bool always) const {
    if (!entry.is_object() || (!always && !entry.contains("axes"))) return;
    nlohmann::json& axes = entry["axes"];
    if (!axes.is_array()) axes = nlohmann::json::array();
    for (const std::string_view name : loop_axes()) {
      // A program whose threads have the stack that the cell says lists `stack` by itself.
      const bool without = (name == "beside" && worker_.wait_beside == nullptr) ||
                           (name == "stack" && has_own_threads());
      if (!without) axes.push_back(name);
    }
  }

  const mpsprobe_worker& worker_;
};

/// Why the library cannot run the worker, or an empty text.
std::string problem_of(const mpsprobe_worker* worker) {
  if (worker == nullptr) return "no worker is given";
  if (worker->abi != MPSPROBE_WORKER_ABI) {
    return "the worker was built for version " + std::to_string(worker->abi) +
           " of the interface, and this library has version " +
           std::to_string(MPSPROBE_WORKER_ABI) + ": build both from one checkout";
  }
  const bool whole = worker->describe != nullptr && worker->provenance != nullptr &&
                     worker->make_workload != nullptr && worker->make_lane != nullptr &&
                     worker->launch != nullptr;
  if (!whole) return "describe, provenance, make_workload, make_lane and launch are needed";
  return (worker->start_thread == nullptr) == (worker->join_thread == nullptr)
             ? ""
             : "start_thread and join_thread go together";
}

bool are_those_of_main(int argc, char** argv) {
  return argc > 0 && argv != nullptr &&
         std::none_of(argv, argv + argc, [](const char* word) { return word == nullptr; });
}

}  // namespace
}  // namespace mpsprobe

void mpsprobe_explain(const char* text) {
  mpsprobe::explanation.assign(text,
                               text == nullptr ? 0 : strnlen(text, mpsprobe::kMostExplanation));
}

void mpsprobe_tell_exception(const char* text) {
  const size_t length = text == nullptr ? 0 : strnlen(text, mpsprobe::kMostExplanation);
  mpsprobe::tell_exception_of_main(std::string(text, length));
}

const char* mpsprobe_cell_value(const mpsprobe_cell* cell, const char* axis) {
  if (cell == nullptr || axis == nullptr) return nullptr;
  const auto at = cell->values.find(std::string_view(axis));
  return at == cell->values.end() ? nullptr : at->second.c_str();
}

int mpsprobe_worker_main(int argc, char** argv, const mpsprobe_worker* worker) {
  std::string problem = mpsprobe::problem_of(worker);
  if (!mpsprobe::are_those_of_main(argc, argv)) problem = "argc and argv are not those of main";
  if (!problem.empty()) {
    std::fprintf(stderr, "libmpsprobe_worker: %s\n", problem.c_str());
    return 3;
  }
  // On the heap and never freed: threads that end=exit leaves at work use it.
  auto* const program = new mpsprobe::CProgram(*worker);
  try {
    return mpsprobe::run_worker(argc, argv, *program);
  } catch (const std::exception& error) {  // of `describe`: there is nobody else to tell
    std::fprintf(stderr, "mpsprobe-worker: %s\n", error.what());
    return 3;
  }
}
