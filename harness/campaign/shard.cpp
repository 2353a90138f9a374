#include "harness/campaign/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

#include "harness/input/input_error.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostShards = 10'000;

std::optional<size_t> whole_number(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
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
  const size_t slash = std::min(text.find('/'), text.size());
  const auto number = whole_number(text.substr(0, slash));
  const auto of = whole_number(text.substr(std::min(slash + 1, text.size())));
  if (!number || !of || *of > kMostShards || *number < 1 || *number > *of) {
    throw InputError("--shard", "no shard \"" + text + "\"",
                     fmt::format("Write I/N with I from 1 to N, and N at most {}", kMostShards));
  }
  return {*number - 1, *of};
}

}  // namespace mpsprobe
