#include "harness/campaign/settling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/statistics/anytime.h"

namespace mpsprobe {
namespace {

/// A cell that cannot run here says nothing, however often it is asked.
bool gives_evidence(const SeenCell& cell) {
  return cell.others < kFloorTrials;
}

}  // namespace

Settling::Settling(double rate, std::vector<SeenCell> cells)
    : question_(settling_question(rate)), cells_(std::move(cells)), lines_of_(cells_.size()) {
  find_lines();
  beside_places_.resize(lines_.size());
  for (size_t i = 0; i < lines_.size(); ++i) judge(i);
}

void Settling::find_lines() {
  const auto add_lines = [this](const char* axis, int32_t Cell::*count, size_t shortest) {
    std::map<std::pair<std::string, std::string>, size_t> index;
    std::vector<SettlingLine> found;
    for (size_t i = 0; i < cells_.size(); ++i) {
      Cell group = cells_[i].cell;
      group.*count = 1;
      const auto [at, fresh] =
          index.try_emplace({cells_[i].worker, to_string(group)}, found.size());
      if (fresh) found.push_back({.axis = axis});
      found[at->second].cells.push_back(i);
    }
    for (SettlingLine& line : found) {
      if (line.cells.size() < shortest) continue;
      std::sort(line.cells.begin(), line.cells.end(),
                [&](size_t a, size_t b) { return cells_[a].cell.*count < cells_[b].cell.*count; });
      for (size_t cell : line.cells) lines_of_[cell].push_back(lines_.size());
      lines_.push_back(std::move(line));
    }
  };
  add_lines("threads", &Cell::threads, 2);
  add_lines("processes", &Cell::processes, 2);
  // A cell that is on no line is a question of its own.
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (!lines_of_[i].empty()) continue;
    lines_of_[i].push_back(lines_.size());
    lines_.push_back({.axis = "threads", .cells = {i}});
  }
}

void Settling::judge(size_t line_index) {
  SettlingLine& line = lines_[line_index];
  std::vector<size_t>& asked = line.asked;
  asked.clear();
  line.place = {};
  std::vector<Proportion> points;
  for (size_t cell : line.cells) {
    if (!gives_evidence(cells_[cell])) continue;
    asked.push_back(cell);
    points.push_back(cells_[cell].seen);
  }
  line.next.reset();
  line.further = 0;
  beside_places_[line_index].clear();
  if (points.empty()) {
    line.state = LineState::given_up;
    return;
  }
  const PlaceOfBoundary place = place_of_boundary(question_, points);
  line.place = place;
  if (place.first_failing > 0) {
    beside_places_[line_index].push_back(asked[place.first_failing - 1]);
  }
  if (place.first_failing < points.size()) {
    beside_places_[line_index].push_back(asked[place.first_failing]);
  }
  if (place.settled(question_)) {
    line.state = LineState::settled;
    return;
  }
  const std::optional<size_t> next = point_to_try(question_, points);
  line.state = next ? LineState::open : LineState::given_up;
  if (!next) return;
  line.next = asked[*next];
  line.further = std::max(1, trials_until_seldom(question_, points[*next]));
}

void Settling::add(size_t cell, bool counts, bool fails) {
  cells_[cell].add(counts, fails);
  for (size_t line : lines_of_[cell]) judge(line);
}

int Settling::spent(const SettlingLine& line) const {
  int trials = 0;
  for (size_t cell : line.cells) {
    trials += cells_[cell].seen.trials + cells_[cell].others - kFloorTrials;
  }
  return trials;
}

std::optional<size_t> Settling::next(const std::function<bool(size_t)>& busy) const {
  const SettlingLine* best = nullptr;
  std::pair<bool, int> least;
  for (const SettlingLine& line : lines_) {
    if (line.state != LineState::open) continue;
    const std::pair<bool, int> cost{busy(*line.next), spent(line)};
    if (best != nullptr && cost >= least) continue;
    best = &line;
    least = cost;
  }
  return best == nullptr ? std::nullopt : best->next;
}

std::optional<size_t> Settling::next_to_sharpen(const std::function<bool(size_t)>& busy) const {
  std::optional<size_t> best;
  std::pair<bool, double> least;
  for (const std::vector<size_t>& beside : beside_places_) {
    for (size_t cell : beside) {
      const Proportion& seen = cells_[cell].seen;
      const Interval rate = anytime_interval(seen.failures, seen.trials);
      const std::pair<bool, double> cost{busy(cell), rate.low - rate.high};
      if (best && cost >= least) continue;
      best = cell;
      least = cost;
    }
  }
  return best;
}

}  // namespace mpsprobe
