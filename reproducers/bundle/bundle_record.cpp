#include "reproducers/bundle/bundle_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_shape.h"
#include "reports/words/safe_text.h"
#include "reports/writers/json.h"

namespace mpsprobe {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr size_t kMostDepth = 8;
constexpr size_t kMostDevices = 64;
constexpr size_t kMostVariables = 256;
constexpr const char* kMemoryLimit = "memory_limit_mib";  // of runs that chose one
const char* const kRemedy = "Make the bundle again with `mpsprobe feedback`";

/// A value of the record together with where it stands, so that every complaint names the place.
class Entry {
 public:
  Entry(const json& value, std::string place) : value_(value), place_(std::move(place)) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(place_, problem, kRemedy);
  }

  /// It is an object with exactly these keys, and perhaps `optional`.
  void has_exactly(std::initializer_list<const char*> keys, std::string_view optional = "") const {
    if (!value_.is_object()) fail("is not an object");
    for (const auto& [key, ignored] : value_.items()) {
      const bool known = key == optional || std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known) fail(fmt::format("\"{}\" is no key of it", shortened(printable(key), 60)));
    }
    for (const char* key : keys) {
      if (!value_.contains(key)) fail(fmt::format("the key \"{}\" is missing", key));
    }
  }

  Entry at(const char* key) const { return {value_.at(key), place_ + "." + key}; }

  std::vector<Entry> items(size_t most) const {
    if (!value_.is_array()) fail("is not a list");
    if (value_.size() > most) fail(fmt::format("has more than {} entries", most));
    std::vector<Entry> entries;
    for (size_t i = 0; i < value_.size(); ++i) {
      entries.emplace_back(value_[i], fmt::format("{}[{}]", place_, i));
    }
    return entries;
  }

  std::string text() const {
    if (!value_.is_string()) fail("is not a text");
    auto text = value_.get<std::string>();
    if (text.size() > kMostBundleText) fail(fmt::format("is over {} bytes", kMostBundleText));
    return text;
  }
  bool yes() const {
    if (!value_.is_boolean()) fail("is neither true nor false");
    return value_.get<bool>();
  }
  int count() const {
    if (!value_.is_number_unsigned() ||
        value_.get<uint64_t>() > static_cast<uint64_t>(kMostBundleTrials)) {
      fail(fmt::format("is no whole number from 0 to {}", kMostBundleTrials));
    }
    return value_.get<int>();
  }
  uint64_t whole() const {
    if (!value_.is_number_unsigned()) fail("is no whole number");
    return value_.get<uint64_t>();
  }
  double seconds() const {
    const double value = value_.is_number() ? value_.get<double>() : std::nan("");
    if (!(value >= 0.1 && value <= 86400)) fail("is no time from 0.1 to 86400 seconds");
    return value;
  }

 private:
  const json& value_;
  std::string place_;
};

std::vector<std::string> texts(const Entry& entry, size_t most) {
  std::vector<std::string> list;
  for (const Entry& item : entry.items(most)) list.push_back(item.text());
  return list;
}

BundleCell parse_bundle_cell(const Entry& entry) {
  entry.has_exactly(
      {"cell", "worker", "build", "devices", "failures", "otherwise", "trials", "control"});
  BundleCell cell;
  try {
    cell.cell = parse_cell(entry.at("cell").text());
  } catch (const InputError& error) {
    entry.at("cell").fail(error.problem());
  }
  cell.worker = entry.at("worker").text();
  const Entry build = entry.at("build");
  build.has_exactly({"version", "git_hash", "build_id"});
  cell.build = {build.at("version").text(), build.at("git_hash").text(),
                build.at("build_id").text()};
  cell.devices = texts(entry.at("devices"), kMostDevices);
  cell.failures = entry.at("failures").count();
  cell.otherwise = entry.at("otherwise").count();
  cell.trials = entry.at("trials").count();
  cell.control = entry.at("control").yes();
  if (cell.failures + cell.otherwise > cell.trials) entry.fail("has more failures than trials");
  return cell;
}

/// The library keeps the last of repeated keys without a word: which one a reader saw would depend
/// on the reader.
json parse_without_repeats(std::string_view text, const std::string& place) {
  if (const auto excess = json_excess(text, {.depth = kMostDepth})) {
    if (excess->kind == JsonExcess::Kind::too_deep) {
      throw InputError(place, "is nested too deep for a bundle's record", kRemedy);
    }
    throw InputError(place,
                     fmt::format("the key \"{}\" stands twice in one object",
                                 shortened(printable(excess->key), 60)),
                     kRemedy);
  }
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw InputError(place, fmt::format("is no JSON: {}", printable(json_problem(error))), kRemedy);
  }
}

void check_whole(const BundleRecord& record, const Entry& root) {
  if (record.signature.empty()) root.at("signature").fail("is empty");
  const auto failed = [](const BundleCell& cell) { return cell.failures > 0 && !cell.control; };
  if (std::none_of(record.cells.begin(), record.cells.end(), failed)) {
    root.at("cells").fail("holds no cell that failed and is no control");
  }
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> seen;
  for (const BundleCell& cell : record.cells) {
    if (cell.cell.backend == Backend::sim && !record.simulated) {
      root.at("simulated").fail("is false, and a cell is of the simulated device");
    }
    const std::string id = to_string(cell.cell);
    const BundleBuild& build = cell.build;
    if (!seen.emplace(id, cell.worker, build.version, build.git_hash, build.build_id).second) {
      root.at("cells").fail(fmt::format("{} stands there twice for one build", id));
    }
  }
}

}  // namespace

bool is_known(const BundleBuild& build) {
  return !build.version.empty() || !build.git_hash.empty() || !build.build_id.empty();
}

std::string bundle_record_json(const BundleRecord& record) {
  using ordered = nlohmann::ordered_json;
  ordered cells = ordered::array();
  for (const BundleCell& cell : record.cells) {
    cells.push_back({{"cell", to_string(cell.cell)},
                     {"worker", cell.worker},
                     {"build",
                      {{"version", cell.build.version},
                       {"git_hash", cell.build.git_hash},
                       {"build_id", cell.build.build_id}}},
                     {"devices", cell.devices},
                     {"failures", cell.failures},
                     {"otherwise", cell.otherwise},
                     {"trials", cell.trials},
                     {"control", cell.control}});
  }
  ordered object{{"mpsprobe_bundle", kVersion},
                 {"mpsprobe_version", record.mpsprobe_version},
                 {"signature", record.signature},
                 {"simulated", record.simulated},
                 {"paravirtual", record.paravirtual},
                 {"measured", record.measured},
                 {"machine",
                  {{"os", record.machine.os},
                   {"os_build", record.machine.os_build},
                   {"model", record.machine.model},
                   {"chip", record.machine.chip}}},
                 {"seed", record.seed},
                 {"timeout_seconds", record.timeout_seconds},
                 {"stall_seconds", record.stall_seconds},
                 {"environment", record.environment},
                 {"cells", cells}};
  if (record.memory_limit_mib > 0) object[kMemoryLimit] = record.memory_limit_mib;
  std::string text = json_text(object);
  parse_bundle_record(text, "bundle.json");  // never hand out what no reader takes
  return text;
}

BundleRecord parse_bundle_record(std::string_view text, const std::string& place) {
  if (text.size() > kMostBundleBytes) {
    throw InputError(place, fmt::format("is over {} bytes", kMostBundleBytes), kRemedy);
  }
  const json value = parse_without_repeats(text, place);
  const Entry root(value, place);
  if (!value.is_object() || !value.contains("mpsprobe_bundle")) {
    root.fail("is no record of a bundle");
  }
  if (value.at("mpsprobe_bundle") != kVersion) {
    root.fail(fmt::format("is of version {}, and this mpsprobe reads version {}",
                          shortened(value.at("mpsprobe_bundle").dump(), 20), kVersion));
  }
  root.has_exactly(
      {"mpsprobe_bundle", "mpsprobe_version", "signature", "simulated", "paravirtual", "measured",
       "machine", "seed", "timeout_seconds", "stall_seconds", "environment", "cells"},
      kMemoryLimit);
  BundleRecord record;
  record.mpsprobe_version = root.at("mpsprobe_version").text();
  record.signature = root.at("signature").text();
  record.simulated = root.at("simulated").yes();
  record.paravirtual = root.at("paravirtual").yes();
  record.measured = root.at("measured").text();
  const Entry machine = root.at("machine");
  machine.has_exactly({"os", "os_build", "model", "chip"});
  record.machine = {machine.at("os").text(), machine.at("os_build").text(),
                    machine.at("model").text(), machine.at("chip").text()};
  record.seed = root.at("seed").whole();
  record.timeout_seconds = root.at("timeout_seconds").seconds();
  record.stall_seconds = root.at("stall_seconds").seconds();
  if (value.contains(kMemoryLimit)) {
    record.memory_limit_mib = root.at(kMemoryLimit).whole();
    if (record.memory_limit_mib < 16 || record.memory_limit_mib > kMostBundleMemoryMib) {
      root.at(kMemoryLimit).fail("is out of range");
    }
  }
  record.environment = texts(root.at("environment"), kMostVariables);
  for (const Entry& cell : root.at("cells").items(kMostBundleCells)) {
    record.cells.push_back(parse_bundle_cell(cell));
  }
  check_whole(record, root);
  return record;
}

BundleRecord read_bundle_record(const fs::path& folder) {
  std::error_code error;
  const bool is_folder = fs::is_directory(folder, error);
  if (!is_folder && fs::is_regular_file(folder, error) &&
      folder.filename() != fs::path(kBundleRecordFile)) {
    throw InputError(printable(folder.string()), "is a file, and a bundle is a folder",
                     "Unpack the archive, and name the folder that comes out of it");
  }
  const fs::path file = is_folder ? folder / kBundleRecordFile : folder;
  const std::string place = printable(file.string());
  // A pipe or a device could keep its reader for ever.
  if (!fs::is_regular_file(file, error)) {
    throw InputError(place, "is no file that can be read",
                     "Name the folder that `mpsprobe feedback` wrote; it holds bundle.json");
  }
  return parse_bundle_record(read_input_file(file, kMostBundleBytes, kRemedy), place);
}

}  // namespace mpsprobe
