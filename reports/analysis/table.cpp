#include "reports/analysis/table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

// A table while it is made: columns by arm and cell, the varied axis set to 1.
struct Key {
  size_t arm = 0;
  Cell group;
};

class Layout {
 public:
  explicit Layout(const Analysis& analysis) : analysis_(analysis) {
    for (const CellSummary& cell : analysis.cells) {
      by_id_[{cell.arm, cell.id}] = &cell;
    }
    for (const LeftOutGroup& group : analysis.left_out) {
      left_out_.insert(group.cells.begin(), group.cells.end());
    }
  }

  ReportTable table(const std::string& block, const std::vector<const CellSummary*>& cells) const {
    ReportTable table;
    table.title = block;
    std::set<int32_t> threads;
    std::set<int32_t> processes;
    for (const CellSummary* cell : cells) {
      threads.insert(cell->cell.threads);
      processes.insert(cell->cell.processes);
    }
    const bool by_processes = processes.size() > 1 && threads.size() == 1;
    table.axis = by_processes ? "processes" : "threads";
    int32_t Cell::*const count = by_processes ? &Cell::processes : &Cell::threads;

    const std::vector<Key> keys = keys_of(cells, count);
    const std::set<int32_t>& counts = by_processes ? processes : threads;
    table.counts.assign(counts.begin(), counts.end());
    label_columns(table, keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      for (int32_t value : table.counts) {
        Cell cell = keys[i].group;
        cell.*count = value;
        table.columns[i].entries.push_back(entry(keys[i].arm, to_string(cell)));
      }
    }
    return table;
  }

 private:
  ReportTable::Entry entry(size_t arm, const std::string& id) const {
    const auto at = by_id_.find({arm, id});
    if (at != by_id_.end()) return {at->second, false};
    return {nullptr, left_out_.contains(id)};
  }

  static std::vector<Key> keys_of(const std::vector<const CellSummary*>& cells,
                                  int32_t Cell::*count) {
    std::vector<Key> keys;
    std::set<std::pair<size_t, std::string>> seen;
    for (const CellSummary* cell : cells) {
      Key key{cell->arm, cell->cell};
      key.group.*count = 1;
      if (seen.emplace(key.arm, to_string(key.group)).second) keys.push_back(std::move(key));
    }
    return keys;
  }

  // A column says what tells it from the others; what all have in common stands above the table.
  void label_columns(ReportTable& table, const std::vector<Key>& keys) const {
    std::set<std::string> with_paths;
    for (const Key& key : keys) {
      if (key.group.path != Path::automatic) with_paths.insert(key.group.op);
    }
    for (const Key& key : keys) {
      std::string label = key.group.op;
      if (with_paths.contains(key.group.op)) label += " " + std::string(name_of(key.group.path));
      const bool several = analysis_.arms.size() > 1;
      table.columns.push_back(
          {std::move(label), several ? analysis_.arms[key.arm].label : std::string(), {}});
    }
    for (const Axis& axis : axes()) {
      if (axis.name == "op" || axis.name == "path" || axis.name == table.axis) continue;
      std::set<std::string> values;
      for (const Key& key : keys) values.insert(axis.read(key.group));
      if (values.size() == 1) {
        const std::string& value = *values.begin();
        if (axis.name == "backend") {
          table.shared.push_back("backend " + value);
        } else if (value != axis.default_value || axis.name == "threads" ||
                   axis.name == "iterations") {
          table.shared.push_back(setting(axis, value, ", "));
        }
        continue;
      }
      for (size_t i = 0; i < keys.size(); ++i) {
        // A word such as "none" or "default" says nothing; a number always does.
        const bool told = axis.kind == AxisKind::count || axis.name == "backend";
        if (!told && axis.read(keys[i].group) == axis.default_value) continue;
        table.columns[i].cells += ", " + setting(axis, axis.read(keys[i].group), ", ");
      }
    }
  }

  const Analysis& analysis_;
  std::map<std::pair<size_t, std::string>, const CellSummary*> by_id_;
  std::set<std::string> left_out_;
};

}  // namespace

std::vector<ReportTable> lay_out(const Analysis& analysis) {
  std::vector<std::pair<std::string, std::vector<const CellSummary*>>> blocks;
  std::map<std::string, size_t> index;
  for (const std::string& title : analysis.blocks) {
    index.emplace(title, blocks.size());
    blocks.push_back({title, {}});
  }
  const auto add = [&](const std::string& block, const CellSummary& cell) {
    const auto [at, fresh] = index.try_emplace(block, blocks.size());
    if (fresh) blocks.push_back({block, {}});
    blocks[at->second].second.push_back(&cell);
  };
  for (const CellSummary& cell : analysis.cells) {
    add(cell.block, cell);
    for (const std::string& block : cell.also_in) add(block, cell);
  }
  const Layout layout(analysis);
  std::vector<ReportTable> tables;
  for (const auto& [block, cells] : blocks) {
    if (!cells.empty()) tables.push_back(layout.table(block, cells));
  }
  return tables;
}

}  // namespace mpsprobe
