#include "harness/campaign/shard.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "harness/folder/folder.h"
#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostShards = 10'000;

std::string set_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<size_t> whole_number(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

/// `first` is the index of the first shard in the words of whoever numbers them.
Shard checked(const std::string& place, const std::string& index, const std::string& count,
              size_t first) {
  const auto number = whole_number(index);
  const auto of = whole_number(count);
  if (!number || !of || *of < 1 || *of > kMostShards || *number < first || *number - first >= *of) {
    throw InputError(place, fmt::format("no shard \"{}\" of \"{}\"", index, count),
                     fmt::format("Write I/N with I from 1 to N, and N at most {}", kMostShards));
  }
  return {*number - first, *of};
}

/// How an engine that starts many of us says which one this is.
struct Numbering {
  const char* index;
  const char* count;
  const char* least;  ///< the variable that has the first index; null where it is `first`
  size_t first;
};
constexpr Numbering kNumberings[] = {
    {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", nullptr, 0},
    {"CI_NODE_INDEX", "CI_NODE_TOTAL", nullptr, 1},
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", 0},
};

Shard shard_of_environment() {
  for (const Numbering& numbering : kNumberings) {
    const std::string index = set_in_environment(numbering.index);
    const std::string count = set_in_environment(numbering.count);
    if (index.empty() || count.empty()) continue;
    size_t first = numbering.first;
    if (numbering.least != nullptr) {
      first = whole_number(set_in_environment(numbering.least)).value_or(first);
    }
    const Shard shard = checked(numbering.index, index, count, first);
    const std::string status = set_in_environment("GTEST_SHARD_STATUS_FILE");
    if (&numbering == &kNumberings[0] && !status.empty()) {
      const std::filesystem::path file = status;
      Folder(file.parent_path()).open(file.filename().string(), O_WRONLY | O_APPEND | O_CREAT);
    }
    return shard;
  }
  throw InputError("--shard auto",
                   "neither GoogleTest's, GitLab's nor Slurm's variables say which one this is",
                   "Write --shard I/N");
}

}  // namespace

std::string boundary_of(const Cell& cell) {
  Cell one = cell;
  one.threads = one.processes = 1;
  return to_string(one);
}

std::vector<size_t> divide_into_shards(const PlannedCells& cells, size_t shards) {
  if (shards == 0) throw std::invalid_argument("no shard to divide into");
  std::vector<std::string> groups;
  std::map<std::string, size_t> sizes;
  for (const PlannedCell planned : cells) {
    const std::string group = boundary_of(planned.cell);
    if (sizes[group]++ == 0) groups.push_back(group);
  }
  std::vector<size_t> load(shards);
  std::map<std::string, size_t> shard_of;
  for (const std::string& group : groups) {
    const auto least = std::min_element(load.begin(), load.end());
    shard_of[group] = static_cast<size_t>(least - load.begin());
    *least += sizes[group];
  }
  std::vector<size_t> divided;
  divided.reserve(cells.size());
  for (const PlannedCell planned : cells) divided.push_back(shard_of[boundary_of(planned.cell)]);
  return divided;
}

void keep_shard(CampaignHeader& header, const Shard& shard) {
  const std::vector<size_t> divided = divide_into_shards(header.cells, shard.count);
  header.shard = shard;
  header.whole = std::move(header.cells);
  header.cells.clear();
  for (size_t i = 0; i < divided.size(); ++i) {
    if (divided[i] == shard.index) header.cells.push_back(header.whole[i]);
  }
  for (const PlannedCells::Piece& piece : header.whole.pieces()) {
    const auto* grid = std::get_if<CellGrid>(&piece);
    if (grid == nullptr || grid->again.empty()) continue;
    header.cells.push_back(CellGrid{grid->block, grid->axes, {}, grid->again});
  }
}

Shard shard_named(const std::string& text) {
  if (text == "auto") return shard_of_environment();
  const size_t slash = text.find('/');
  if (slash == std::string::npos) {
    throw InputError("--shard", "is not of the form I/N", "Write for example --shard 1/4, or auto");
  }
  return checked("--shard", text.substr(0, slash), text.substr(slash + 1), 1);
}

}  // namespace mpsprobe
