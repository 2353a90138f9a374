#include "scenarios/backends/other_worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/input/json_text.h"
#include "harness/provenance/executable.h"
#include "harness/wire/axis.h"
#include "scenarios/backends/each_backend.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAbsent =
    "not built: on a Mac it needs Apple's frameworks alone, elsewhere clang and GNUstep for the "
    "simulated device (docs/building.md)";
constexpr size_t kMostBytes = size_t{1} << 20;

struct OtherWorker {
  Backend backend;
  std::string_view program;
};
constexpr std::array kOtherWorkers{
    OtherWorker{.backend = Backend::metal, .program = "mpsprobe-metal-worker"},
#ifndef __APPLE__
    OtherWorker{.backend = Backend::mps, .program = "mpsprobe-mps-worker"},
#endif
};

// PyTorch's own MPS code before the stand-in for it, where tools/build-worker has built it. The
// build with ThreadSanitizer has others of its kind.
fs::path path_of(const OtherWorker& worker) {
  const fs::path folder = installation_folder() / "bin";
  const std::string kind = own_executable().string().ends_with("-tsan") ? "-tsan" : "";
  const fs::path own = folder / ("mpsprobe-mps-own-worker" + kind);
  std::error_code error;
  return worker.backend == Backend::mps && fs::exists(own, error)
             ? own
             : folder / (std::string(worker.program) + kind);
}

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What the worker prints; empty where it cannot be run, dies, or prints too much.
std::string description(const fs::path& worker) {
  const std::string command = quoted_for_shell(worker.string()) + " describe 2>/dev/null";
  FILE* const output = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> chunk{};
  size_t bytes = 1;
  while (output != nullptr && bytes > 0 && text.size() < kMostBytes) {
    bytes = std::fread(chunk.data(), 1, chunk.size(), output);
    text.append(chunk.data(), bytes);
  }
  const bool ended_well = output != nullptr && pclose(output) == 0;
  return ended_well && bytes == 0 ? text : std::string();
}

}  // namespace

void become_other_worker(int argc, char** argv) {
  // Of a cell it is the first part.
  std::string_view asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    for (const std::string_view option : {"--cell", "--backend"}) {
      if (argument == option && i + 1 < argc) asked = argv[i + 1];
      if (argument.starts_with(option) && argument.substr(option.size()).starts_with('=')) {
        asked = argument.substr(option.size() + 1);
      }
    }
  }
  const auto other = std::ranges::find_if(kOtherWorkers, [&](const OtherWorker& each) {
    return asked.substr(0, asked.find('/')) == name_of(each.backend);
  });
  if (other == kOtherWorkers.end()) return;
  const std::string worker = path_of(*other).string();
  // A worker that is asked for what it is itself is the one that was looked for.
  // So is one that was built beside it, with fixes.
  const std::string self = fs::path(own_executable()).filename().string();
  if (self == fs::path(worker).filename() ||
      (other->backend == Backend::mps && self.starts_with("mpsprobe-mps-"))) {
    return;
  }
  execv(worker.c_str(), argv);
  // Returns where it fails; that it is not there is said later, of the backend.
  if (errno != ENOENT) {
    std::fprintf(stderr, "mpsprobe-worker: %s cannot be run: %s\n", worker.c_str(),
                 std::strerror(errno));
  }
}

BackendReport report_metal() {
  return report_of_other_worker(Backend::metal, kAbsent);
}

BackendReport report_of_other_worker(Backend backend, std::string_view absent) {
  BackendReport report{.backend = backend};
  const fs::path worker =
      path_of(*std::ranges::find(kOtherWorkers, backend, &OtherWorker::backend));
  std::error_code error;
  if (!fs::exists(worker, error)) {
    report.reason = absent;
    return report;
  }
  try {
    const auto answer = parsed_json(description(worker));
    std::vector<std::string> names;
    for (const nlohmann::json& operation : answer.at("operations")) {
      names.push_back(operation.at("name"));
    }
    const auto& all = answer.at("backends");
    const auto said = std::ranges::find_if(
        all, [&](const nlohmann::json& each) { return each.at("name") == name_of(backend); });
    if (said == all.end()) throw std::out_of_range("backends");
    report.available = said->at("available");
    report.simulated = said->at("simulated");
    report.device = said->at("device");
    report.reason = said->at("reason");
    report.operations = std::move(names);
    report.other_worker = json_text(answer);
  } catch (const std::exception&) {
    report.available = false;
    report.reason = fmt::format(
        "{}: does not say what it is. Run \"{} describe\" to see why, or build it together with "
        "this worker",
        worker.string(), worker.string());
  }
  return report;
}

}  // namespace mpsprobe
