#include "reproducers/minimise/simplification.h"

#include <algorithm>
#include <charconv>

#include "harness/wire/ascii.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

using std::string_view;

// What a simplification does not put back: what the cell is, and the counts that are searched.
constexpr string_view kSearchedOrFixed[] = {"backend", "op", "threads", "iterations", "profile"};

bool lists(const auto& values, string_view value) {
  return std::ranges::find(values, value) != std::ranges::end(values);
}

const OperationInfo* info_of(const Operations& operations, const std::string& name) {
  const auto at = operations.find(name);
  return at == operations.end() ? nullptr : &at->second;
}

/// Whether `text` has `word` in it, as a word: "mm" is not in "command".
bool names(string_view text, string_view word) {
  for (size_t at = text.find(word); at != string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !ascii::word(text[at - 1])) &&
        (end == text.size() || !ascii::word(text[end]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string change_between(const Cell& from, const Cell& to) {
  std::string text;
  for (const Axis& axis : axes()) {
    const std::string before = axis.read(from);
    const std::string after = axis.read(to);
    if (before == after) continue;
    if (!text.empty()) text += ", ";
    text += std::string(axis.name) + " " + before + " -> " + after;
  }
  return text;
}

std::vector<string_view> axes_off_default(const Cell& cell) {
  std::vector<string_view> names;
  for (const Axis& axis : axes()) {
    const bool other = lists(kSearchedOrFixed, axis.name);
    if (!other && axis.read(cell) != axis.default_value) names.push_back(axis.name);
  }
  return names;
}

Cell with_defaults(const Cell& cell, const std::vector<string_view>& names) {
  Cell result = cell;
  for (const string_view name : names) {
    const Axis& axis = *find_axis(name);
    set_axis(result, axis, axis.default_value);
  }
  return result;
}

std::vector<Cell> parts_of(const Cell& cell, const Operations& operations, string_view signature) {
  const OperationInfo* whole = info_of(operations, cell.op);
  if (whole == nullptr) return {};
  std::vector<Cell> cells;
  for (const std::string& part : whole->made_of) {
    const OperationInfo* info = info_of(operations, part);
    if (info == nullptr || part == cell.op) continue;
    Cell alone = cell;
    alone.op = part;
    alone.shape = "default";
    if (!lists(info->paths, name_of(cell.path))) alone.path = Path::automatic;
    if (!lists(info->dtypes, cell.dtype)) alone.dtype = "default";
    if (!info->has_parameters) alone.model = ModelSharing::shared;
    cells.push_back(alone);
  }
  std::stable_partition(cells.begin(), cells.end(),
                        [&](const Cell& part) { return names(signature, part.op); });
  return cells;
}

std::vector<int64_t> sizes_of(string_view shape) {
  std::vector<int64_t> sizes;
  while (!shape.empty()) {
    const size_t end = std::min(shape.find('x'), shape.size());
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(shape.data(), shape.data() + end, size);
    if (error != std::errc() || stop != shape.data() + end || size < 1) return {};
    sizes.push_back(size);
    shape.remove_prefix(std::min(end + 1, shape.size()));
  }
  return sizes;
}

std::string shape_of(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::vector<ConditionChange> conditions_of(const Cell& cell, const Operations& operations) {
  std::vector<ConditionChange> changes;
  const auto add = [&](bool simplification, auto change) {
    Cell changed = cell;
    change(changed);
    const auto same = [&](const ConditionChange& other) { return other.cell == changed; };
    if (changed == cell || std::any_of(changes.begin(), changes.end(), same)) return;
    changes.push_back({changed, simplification});
  };
  if (cell.threads > 1) add(true, [](Cell& c) { --c.threads; });
  if (cell.processes > 1) add(true, [](Cell& c) { --c.processes; });
  if (cell.iterations > 1) add(true, [](Cell& c) { --c.iterations; });
  if (cell.churn > 1) add(true, [](Cell& c) { --c.churn; });
  const OperationInfo* info = info_of(operations, cell.op);
  const std::vector<int64_t> sizes = sizes_of(cell.shape);
  const std::vector<int64_t> usual = sizes_of(info == nullptr ? "" : info->shape);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= (usual.size() == sizes.size() ? usual[i] : 1)) continue;
    std::vector<int64_t> smaller = sizes;
    --smaller[i];
    add(true, [&](Cell& c) { c.shape = shape_of(smaller); });
  }
  for (const string_view name : axes_off_default(cell)) {
    add(true, [&](Cell& c) { c = with_defaults(c, {name}); });
  }
  if (cell.threads > 1) {
    add(false, [](Cell& c) { c.lock = Lock::forward; });
    add(false, [](Cell& c) { c.start = Start::sequential; });
    if (info != nullptr && info->has_parameters) {
      add(false, [](Cell& c) { c.model = ModelSharing::per_thread; });
    }
  }
  // What one thread fails with may need a thread that was started.
  if (cell.threads == 1) add(false, [](Cell& c) { c.start = Start::main; });
  if (cell.init == Init::main) add(false, [](Cell& c) { c.warmup = Warmup::main; });
  // What a thread's end breaks is gone where there is nothing left for it to take apart.
  if (mpsprobe::info_of(cell.backend).owners()) {
    add(false, [](Cell& c) { c.leave = Leave::clear_streams; });
  }
  if (cell.iterations > 1) {
    add(false, [](Cell& c) { c.sync = Sync::end; });
    add(false, [](Cell& c) { c.lifetime = Lifetime::fresh; });
  }
  return changes;
}

}  // namespace mpsprobe
