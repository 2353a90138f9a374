#include "reports/analysis/gpu_events.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/crash_report/report_value.h"

namespace mpsprobe {
namespace {

void add_once(std::vector<GpuEvent>& events, const GpuEvent& event) {
  const bool there = std::any_of(events.begin(), events.end(), [&event](const GpuEvent& other) {
    return other.identity() == event.identity();
  });
  if (!there) events.push_back(event);
}

}  // namespace

std::vector<std::vector<GpuEvent>> gpu_events_of_trials(const Journal& journal) {
  std::vector<double> begun;
  std::vector<std::pair<double, size_t>> by_begin;
  for (size_t i = 0; i < journal.trials.size(); ++i) {
    begun.push_back(report_time(journal.trials[i].started));
    if (begun[i] > 0) by_begin.emplace_back(begun[i], i);
  }
  std::sort(by_begin.begin(), by_begin.end());

  std::vector<std::vector<GpuEvent>> events(journal.trials.size());
  for (size_t i = 0; i < journal.trials.size(); ++i) {
    for (const ProcessRecord& process : journal.trials[i].processes) {
      for (const GpuEvent& event : process.gpu_events) {
        size_t owner = i;
        const double latest = event.captured + kEventLead;
        if (begun[i] > latest) {
          const auto after =
              std::upper_bound(by_begin.begin(), by_begin.end(),
                               std::pair<double, size_t>(latest, journal.trials.size()));
          if (after != by_begin.begin()) owner = std::prev(after)->second;
        }
        add_once(events[owner], event);
      }
    }
  }
  return events;
}

}  // namespace mpsprobe
