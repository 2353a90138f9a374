#include "reproducers/bundle/bundle_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/json_shape.h"
#include "harness/input/json_text.h"
#include "harness/input/placed_json.h"
#include "harness/journal/record_json.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {

template <>
inline constexpr auto fields<BundleCell> = described<BundleCell>(
    field::safe("cell", &BundleCell::cell), field::worker("worker", &BundleCell::worker),
    field::part("build", &BundleCell::build), field::name("devices", &BundleCell::devices),
    field::safe("failures", &BundleCell::failures),
    field::safe("otherwise", &BundleCell::otherwise), field::safe("trials", &BundleCell::trials),
    field::safe("control", &BundleCell::control));

template <>
inline constexpr auto fields<BundleMachine> = described<BundleMachine>(
    field::name("os", &BundleMachine::os), field::name("os_build", &BundleMachine::os_build),
    field::name("model", &BundleMachine::model), field::name("chip", &BundleMachine::chip));

template <>
inline constexpr auto fields<BundleRecord> = described<BundleRecord>(
    field::text("mpsprobe_version", &BundleRecord::mpsprobe_version),
    field::title("signature", &BundleRecord::signature),
    field::safe("simulated", &BundleRecord::simulated),
    field::safe("paravirtual", &BundleRecord::paravirtual),
    field::text("measured", &BundleRecord::measured),
    field::part("machine", &BundleRecord::machine), field::safe("seed", &BundleRecord::seed),
    field::safe("timeout_seconds", &BundleRecord::timeout_seconds),
    field::safe("stall_seconds", &BundleRecord::stall_seconds),
    field::safe("memory_limit_mib", &BundleRecord::memory_limit_mib).if_any(),
    field::variables("environment", &BundleRecord::environment),
    field::part("cells", &BundleRecord::cells));

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kVersionKey = "mpsprobe_bundle";
constexpr int kVersion = 1;
const char* const kRemedy = "Make the bundle again with `mpsprobe feedback`";

[[noreturn]] void refuse(const std::string& place, const std::string& problem) {
  throw InputError(place, problem, kRemedy);
}

/// Longer texts and lists than any bundle has.
void check_sizes(const json& value, const std::string& place) {
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMostBundleText) {
    refuse(place, fmt::format("is over {} bytes", kMostBundleText));
  }
  if (value.is_array() && value.size() > kMostBundleCells) {
    refuse(place, fmt::format("has more than {} entries", kMostBundleCells));
  }
  for (const auto& [key, member] : value.items()) {
    if (value.is_structured()) check_sizes(member, place + "/" + shortened(printable(key), 60));
  }
}

void check_record(const BundleRecord& record, const std::string& place) {
  if (record.signature.empty()) refuse(place + "/signature", "is empty");
  for (const double seconds : {record.timeout_seconds, record.stall_seconds}) {
    if (!(seconds >= 0.1 && seconds <= 86400)) {
      refuse(place, "has a time that is not from 0.1 to 86400 seconds");
    }
  }
  if (record.memory_limit_mib > kMostBundleMemoryMib ||
      (record.memory_limit_mib > 0 && record.memory_limit_mib < 16)) {
    refuse(place + "/memory_limit_mib", "is out of range");
  }
  const auto failed = [](const BundleCell& cell) { return cell.failures > 0 && !cell.control; };
  if (std::none_of(record.cells.begin(), record.cells.end(), failed)) {
    refuse(place + "/cells", "holds no cell that failed and is no control");
  }
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> seen;
  for (size_t i = 0; i < record.cells.size(); ++i) {
    const BundleCell& cell = record.cells[i];
    const std::string here = fmt::format("{}/cells/{}", place, i);
    if (cell.failures < 0 || cell.otherwise < 0 || cell.trials > kMostBundleTrials ||
        int64_t{cell.failures} + cell.otherwise > cell.trials) {
      refuse(here, fmt::format("has counts that cannot be: of 0 to {} trials, no more failures",
                               kMostBundleTrials));
    }
    if (cell.cell.backend == Backend::sim && !record.simulated) {
      refuse(place + "/simulated", "is false, and a cell is of the simulated device");
    }
    const std::string id = to_string(cell.cell);
    const BuildIdentity& build = cell.build;
    if (!seen.emplace(id, cell.worker, build.version, build.git_hash, build.build_id).second) {
      refuse(place + "/cells", fmt::format("{} stands there twice for one build", id));
    }
  }
}

}  // namespace

std::string bundle_record_json(const BundleRecord& record) {
  nlohmann::ordered_json object{{kVersionKey, kVersion}};
  object.update(record_to_json<nlohmann::ordered_json>(record));
  std::string text = json_document(object);
  parse_bundle_record(text, "bundle.json");  // never hand out what no reader takes
  return text;
}

BundleRecord parse_bundle_record(std::string_view text, const std::string& place) {
  if (text.size() > kMostBundleBytes)
    refuse(place, fmt::format("is over {} bytes", kMostBundleBytes));
  json value;
  try {
    value = parse_once_keyed(text, place);
  } catch (const InputError& error) {
    refuse(place, printable(error.problem()));
  }
  if (!value.is_object() || !value.contains(kVersionKey)) refuse(place, "is no record of a bundle");
  if (value.at(kVersionKey) != kVersion) {
    refuse(place, fmt::format("is of version {}, and this mpsprobe reads version {}",
                              shortened(json_text(value.at(kVersionKey)), 20), kVersion));
  }
  check_sizes(value, place);
  BundleRecord record;
  try {
    read_record(value, record);
  } catch (const json::exception& error) {
    refuse(place, "is damaged: " + printable(json_problem(error)));
  } catch (const InputError& error) {
    refuse(place, fmt::format("{}: {}", shortened(printable(error.place()), 60), error.problem()));
  }
  check_record(record, place);
  // Whatever it has besides would be believed by somebody.
  json again = record_to_json(record);
  again[kVersionKey] = kVersion;
  const json more = json::diff(again, value);
  if (!more.empty()) {
    refuse(place + printable(more.front().at("path").get<std::string>()), "is no part of a record");
  }
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
