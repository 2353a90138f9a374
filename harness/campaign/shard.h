#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/journal/journal.h"

namespace mpsprobe {

/// For each cell the shard, from 0, that runs it: whole boundaries, since results of unlike
/// machines must not meet in one, each to the shard that has the fewest cells so far. The same
/// cells and number of shards give the same answer everywhere. Throws std::invalid_argument without
/// a shard.
std::vector<size_t> divide_into_shards(const PlannedCells& cells, size_t shards);

/// What a cell has in common with those of its boundaries: itself with one thread and one process.
std::string boundary_of(const Cell& cell);

/// Leaves the cells of one shard in the plan; the others stay in CampaignHeader::whole.
void keep_shard(CampaignHeader& header, const Shard& shard);

/// "3/8", counted from 1, as people write it. Throws InputError.
Shard shard_named(const std::string& text);

}  // namespace mpsprobe
