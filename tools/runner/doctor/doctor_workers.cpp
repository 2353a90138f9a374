#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/executor/environment.h"
#include "harness/input/json_shape.h"
#include "harness/platform/device_class.h"
#include "harness/wire/axis.h"
#include "harness/wire/cell.h"
#include "harness/wire/loaded_library.h"
#include "tools/runner/doctor/doctor_check.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/run/plan_campaign.h"
#include "tools/runner/workers/shadowing.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

using nlohmann::json;

// A worker that has not answered by then is a finding, not a reason to keep a person waiting.
constexpr double kPatienceSeconds = 10;

std::string or_else(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

bool is_apple_gpu(const std::string& backend) {
  return backend == name_of(Backend::mps) || backend == name_of(Backend::metal);
}

/// The checks of one worker.
class WorkerChecks {
 public:
  WorkerChecks(const NamedWorker& worker, const DoctorOptions& options, Checks& checks)
      : worker_(worker),
        options_(options),
        checks_(checks),
        environment_(asked_environment(options)) {}

  /// Empty where the worker does not answer.
  std::optional<WorkerInfo> run() {
    WorkerInfo info;
    try {
      info = ask_worker(worker_, environment_, kPatienceSeconds);
    } catch (const MachineError& error) {
      add("answers", CheckStatus::fail, "answers", error.what(),
          "put that right: nothing runs with this worker before");
      return std::nullopt;
    }
    const std::string version = text_at(info.describe, "version");
    add("answers", CheckStatus::ok, "answers",
        fmt::format("{}, version {}", worker_.path, or_else(version, "unknown")));
    if (version != MPSPROBE_VERSION) {
      add("version", CheckStatus::warn, "is of this version",
          fmt::format("worker {}, runner {}", or_else(version, "unknown"), MPSPROBE_VERSION),
          "build both from one checkout, unless the worker is somebody else's");
    }
    const json provenance = info.describe.value("provenance", json());
    const LibraryUnderTest library = library_under_test(provenance);
    if (library.name.empty()) {
      add("library", CheckStatus::not_applicable, "library under test",
          "it says that it loads none");
    } else {
      check_library(library, library_object(provenance));
    }
    if (library.name == "LibTorch") check_torch(library, library_object(provenance));
    check_expected(info);
    for (const std::string& symbol : options_.probes) check_symbol(info, symbol);
    check_backends(info);
    return info;
  }

 private:
  void add(const std::string& id, CheckStatus status, const std::string& what,
           const std::string& value, const std::string& remedy = "",
           const std::string& section = "workers") {
    checks_.push_back({fmt::format("worker.{}.{}", worker_.name, id), section, status,
                       fmt::format("{}: {}", worker_.name, what), value,
                       status == CheckStatus::ok ? "" : remedy});
  }

  void check_library(const LibraryUnderTest& library, const json& told) {
    // Only LibTorch's packages say which commit they were built from.
    const bool says_commit = library.name == "LibTorch";
    const bool known = !library.version.empty() && !(says_commit && library.git_hash.empty());
    add("library", ok_or_warn(known), library.name,
        or_else(library.version, "version unknown") +
            (says_commit ? ", git " + or_else(library.git_hash, "unknown") : ""),
        "results of a build that does not say what it is prove little: keep version.py, or "
        "build-version and build-hash, beside its lib/");
    const std::string fingerprint = text_at(told, "fingerprint");
    add("image", ok_or_warn(!library.path.empty()), "really loaded from",
        fmt::format("{}, {}", or_else(library.path, "it does not say"),
                    !library.build_id.empty() ? "id " + library.build_id
                    : !fingerprint.empty()    ? "no build id, fingerprint " + fingerprint
                                              : "without id"),
        "the worker must tell the library's path (docs/protocol.md)");
  }

  void check_torch(const LibraryUnderTest& library, const json& told) {
    const auto shadowing = find_shadowing(told);
    add("shadowed", shadowing ? CheckStatus::fail : CheckStatus::ok,
        "loads what it was built against",
        shadowing ? in_words(*shadowing) : "nothing stands in front of it",
        shadowing ? remedy_for(*shadowing) : "");
    const bool pool = library.stream_pool.value_or(false);
    add("stream_pool", pool ? CheckStatus::ok : CheckStatus::not_applicable, "MPSStreamPool",
        pool ? "there" : "not there: stream=per-thread is unsupported on mps");
  }

  void check_expected(const WorkerInfo& info) {
    if (!options_.expect_torch.has_value()) return;
    const std::string mismatch = torch_mismatch(info, *options_.expect_torch);
    add("expected", mismatch.empty() ? CheckStatus::ok : CheckStatus::fail,
        "is --expect-torch " + *options_.expect_torch, mismatch.empty() ? "yes" : mismatch,
        "nothing is run with --expect-torch before that is put right");
  }

  void check_symbol(const WorkerInfo& info, const std::string& symbol) {
    const std::string answer = probe_answer(info, symbol);
    add("symbol." + symbol, ok_or_warn(answer == "there"), "has " + symbol, answer,
        answer == "not there"
            ? "this build lacks it: an environment switch or a fix that needs it does nothing here"
            : "the worker does not answer MPSPROBE_PROBES (docs/protocol.md)");
  }

  void check_backends(const WorkerInfo& info) {
    for (const json& backend : info.describe.at("backends")) {
      const auto name = backend.at("name").get<std::string>();
      const bool available = backend.at("available").get<bool>();
      const bool simulated = backend.value("simulated", json(false)) == json(true);
      const std::string device = text_at(backend, "device");
      // That there is one, and that it computes right numbers, are two questions: see
      // doctor_selftests.cpp for the second.
      const std::string what = is_apple_gpu(name) ? name + " device" : name;
      if (!available) {
        add("backend." + name, CheckStatus::not_applicable, what,
            or_else(text_at(backend, "reason"), "it does not say why"), "", "backends");
      } else if (!simulated && names_paravirtual(device)) {
        add("backend." + name, CheckStatus::warn, what, device + " (PARAVIRTUAL: no real chip)",
            "a class of its own: never quote its results for a chip; for results of one, run on a "
            "Mac that is no virtual machine",
            "backends");
      } else {
        add("backend." + name, CheckStatus::ok, what,
            or_else(device, "available") + (simulated ? " (SIMULATED)" : ""), "", "backends");
      }
    }
  }

  const NamedWorker& worker_;
  const DoctorOptions& options_;
  Checks& checks_;
  std::vector<std::string> environment_;
};

}  // namespace

std::vector<WorkerInfo> check_workers(const DoctorOptions& options, Checks& checks) {
  std::vector<WorkerInfo> answered;
  for (const NamedWorker& worker : name_workers(options.workers)) {
    if (auto info = WorkerChecks(worker, options, checks).run()) {
      answered.push_back(std::move(*info));
    }
  }
  if (!options.backend.empty()) {
    const std::string reason =
        answered.empty()
            ? "no worker answers"
            : why_unavailable(answered, parse_cell(options.backend + "/mm/default").backend);
    checks.push_back({"backend.wanted", "backends",
                      reason.empty() ? CheckStatus::ok : CheckStatus::fail,
                      "--backend " + options.backend, reason.empty() ? "available" : reason,
                      reason.empty() ? "" : "choose one that is available, or see the reason"});
  }
  std::stable_partition(checks.begin(), checks.end(),
                        [](const Check& check) { return check.section == "workers"; });
  return answered;
}

}  // namespace mpsprobe
