#include "scenarios/backends/metal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "scenarios/provenance/executable.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAbsent =
    "not built: on a Mac it needs Apple's frameworks alone, elsewhere clang and GNUstep for the "
    "simulated device (docs/building.md)";
constexpr size_t kMostBytes = size_t{1} << 20;

fs::path worker_path() {
  return installation_folder() / "bin" / "mpsprobe-metal-worker";
}

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What the worker prints; empty where it cannot be run or prints too much.
std::string description(const fs::path& worker) {
  const std::string command = quoted_for_shell(worker.string()) + " describe 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> chunk{};
  while (output != nullptr && text.size() < kMostBytes) {
    const size_t bytes = std::fread(chunk.data(), 1, chunk.size(), output.get());
    if (bytes == 0) return text;
    text.append(chunk.data(), bytes);
  }
  return {};
}

}  // namespace

void become_metal_worker(int argc, char** argv) {
  constexpr std::string_view kOption = "--cell";
  std::string_view cell;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == kOption && i + 1 < argc) cell = argv[i + 1];
    if (argument.starts_with(kOption) && argument.substr(kOption.size()).starts_with("=")) {
      cell = argument.substr(kOption.size() + 1);
    }
  }
  if (!cell.starts_with("metal/")) return;
  // Returns where it fails.
  execv(worker_path().c_str(), argv);
}

BackendReport report_metal() {
  BackendReport report{.backend = Backend::metal, .operations = {{}}};
  const fs::path worker = worker_path();
  std::error_code error;
  if (!fs::exists(worker, error)) {
    report.reason = kAbsent;
    return report;
  }
  try {
    const auto answer = nlohmann::json::parse(description(worker));
    for (const nlohmann::json& operation : answer.at("operations")) {
      report.operations->push_back(operation.at("name"));
    }
    const nlohmann::json& backend = answer.at("backends").at(0);
    report.available = backend.at("available");
    report.simulated = backend.at("simulated");
    report.device = backend.at("device");
    report.reason = backend.at("reason");
  } catch (const nlohmann::json::exception&) {
    report.available = false;
    report.reason = fmt::format(
        "{}: does not say what it is. Run \"{} describe\" to see why, or build it together with "
        "this worker",
        worker.string(), worker.string());
  }
  return report;
}

}  // namespace mpsprobe
