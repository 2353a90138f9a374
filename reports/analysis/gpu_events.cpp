#include <algorithm>
#include <iterator>
#include <utility>

#include "reports/analysis/trial_facts.h"

namespace mpsprobe {
namespace {

void add_once(std::vector<GpuEvent>& events, const GpuEvent& event) {
  const bool there = std::any_of(events.begin(), events.end(), [&event](const GpuEvent& other) {
    return other.identity() == event.identity();
  });
  if (!there) events.push_back(event);
}

}  // namespace

std::map<size_t, std::vector<GpuEvent>> gpu_events_of_trials(const TrialFactsList& trials) {
  std::map<size_t, std::vector<GpuEvent>> events;
  if (trials.gpu_events().empty()) return events;
  std::vector<std::pair<double, size_t>> by_begin;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].begun > 0) by_begin.emplace_back(trials[i].begun, i);
  }
  std::sort(by_begin.begin(), by_begin.end());
  for (const auto& [teller, event] : trials.gpu_events()) {
    size_t owner = teller;
    const double latest = event.captured + kEventLead;
    if (trials[teller].begun > latest) {
      const auto after = std::upper_bound(by_begin.begin(), by_begin.end(),
                                          std::pair<double, size_t>(latest, trials.size()));
      if (after != by_begin.begin()) owner = std::prev(after)->second;
    }
    add_once(events[owner], event);
  }
  return events;
}

}  // namespace mpsprobe
