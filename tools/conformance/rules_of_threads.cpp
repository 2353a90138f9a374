#include <fmt/format.h>

#include <array>
#include <charconv>

#include "harness/wire/axis.h"
#include "tools/conformance/rules.h"

namespace mpsprobe {
namespace {

using Axes = std::vector<std::pair<std::string, std::string>>;

uint64_t default_iterations() {
  const std::string_view text = find_axis("iterations")->default_value;
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Seen sound(const Subject& subject, const Axes& axes) {
  Seen seen = run_through(subject, {.cell = subject.cell(axes)});
  if (const std::string wrong = what_went_wrong(seen.record); !wrong.empty()) {
    throw NotSeen(fmt::format("{}: the worker {}", to_string(subject.cell(axes)), wrong));
  }
  return seen;
}

std::string defaults(const Subject& subject) {
  if (const uint64_t done = sound(subject, {}).record.result->operations;
      done != default_iterations()) {
    return fmt::format("a cell without iterations: it says that it did {}, and the default is {}",
                       done, default_iterations());
  }
  // Which the runner asks for, whatever a worker says that it honours.
  if (const uint64_t done = sound(subject, {{"lifetime", "fresh"}}).record.result->operations;
      done != 1) {
    return fmt::format("lifetime=fresh: it says that it did {} iterations, and not one", done);
  }
  return "";
}

/// What an axis makes visible: cells off its default, and what speaks against its being honoured.
struct AxisRow {
  std::string_view axis;
  std::string_view value;
  Axes beside;  ///< what the cell has besides, where the worker honours that
  std::string (*wrong)(const Seen& seen);
};

std::string operations_are(const Seen& seen, uint64_t expected) {
  const uint64_t done = seen.record.result->operations;
  return done == expected
             ? ""
             : fmt::format("its result tells of {} iterations and not {}", done, expected);
}

std::string one_at_a_time(const Seen& seen, uint32_t most) {
  const uint32_t inside = seen.record.recorder.most_inside;
  return inside <= most ? "" : fmt::format("{} threads were inside a launch at once", inside);
}

const std::vector<AxisRow>& axis_rows() {
  static const std::vector<AxisRow> rows{
      {"iterations", "3", {}, [](const Seen& seen) { return operations_are(seen, 3); }},
      {"threads",
       "3",
       {},
       [](const Seen& seen) { return operations_are(seen, 3 * default_iterations()); }},
      {"churn",
       "3",
       {},
       [](const Seen& seen) { return operations_are(seen, 3 * default_iterations()); }},
      {"lock",
       "forward",
       {{"threads", "4"}, {"iterations", "200"}},
       [](const Seen& seen) { return one_at_a_time(seen, 1); }},
      {"throttle",
       "2",
       {{"threads", "6"}, {"iterations", "200"}},
       [](const Seen& seen) { return one_at_a_time(seen, 2); }},
      {"start",
       "sequential",
       {{"threads", "4"}, {"iterations", "200"}},
       [](const Seen& seen) { return one_at_a_time(seen, 1); }},
      {"serve",
       "queue",
       {{"threads", "3"}},
       [](const Seen& seen) {
         return seen.slots[3].launches > 0
                    ? ""
                    : std::string("no thread beside those of the cell launches");
       }},
      {"serve",
       "pool",
       {{"threads", "3"}},
       [](const Seen& seen) { return operations_are(seen, 3 * default_iterations()); }},
      {"seconds",
       "1",
       {},
       [](const Seen& seen) {
         const double took = seen.record.result->seconds;
         return took >= 0.9 ? "" : fmt::format("its run took {:.2f} s", took);
       }},
      {"beside",
       "wait",
       {},
       [](const Seen& seen) {
         return seen.slots[2].begun ? "" : std::string("no thread waits beside");
       }},
  };
  return rows;
}

std::string axes_it_names(const Subject& subject) {
  bool any = false;
  for (const AxisRow& row : axis_rows()) {
    if (!subject.honours(row.axis)) continue;
    Axes cell{{std::string(row.axis), std::string(row.value)}};
    bool possible = true;
    for (const auto& [axis, value] : row.beside) {
      if (subject.honours(axis)) {
        cell.emplace_back(axis, value);
      } else {
        possible = possible && axis != "threads";
      }
    }
    if (!possible) continue;
    const Seen seen = run_through(subject, {.cell = subject.cell(cell)});
    std::string wrong = what_went_wrong(seen.record);
    // Of the operation, and said: that is no claim.
    if (!seen.record.failures.empty() && seen.record.failures.front().kind == "unsupported")
      continue;
    any = true;
    if (wrong.empty()) wrong = row.wrong(seen);
    if (!wrong.empty()) {
      return fmt::format("it says that it honours {}, and with {}={} {}", row.axis, row.axis,
                         row.value, wrong);
    }
  }
  if (!any) throw NotSeen("it names no axis whose effect can be seen from outside");
  return "";
}

/// A slot that launches while that of another thread says neither that it waits nor more.
bool launches_before_all_have_come(const recorder_layout::Block& recorder, size_t threads) {
  bool launched = false;
  for (size_t k = 0; k < threads && !launched; ++k) {
    launched = recorder.threads[k].launches.load(std::memory_order_acquire) > 0;
  }
  // Read afterwards: who had not come then has not come before that launch.
  for (size_t k = 0; k < threads && launched; ++k) {
    const uint64_t place = recorder.threads[k].place.load(std::memory_order_acquire);
    const auto step = static_cast<Step>(place >> 1 & 0x7fffffff);
    if (place == 0 || step == Step::idle) return true;
  }
  return false;
}

std::string meeting(const Subject& subject) {
  constexpr size_t kThreads = 12;
  constexpr int kTries = 10;  // one that is missed shows in another
  if (!subject.honours("threads")) throw NotSeen("it honours no threads");
  Axes axes{{"threads", std::to_string(kThreads)}};
  if (subject.honours("iterations")) axes.emplace_back("iterations", "50");
  for (int attempt = 0; attempt < kTries; ++attempt) {
    WatchedProcess process(subject, {.cell = subject.cell(axes)});
    if (!process.wait_until_ready()) {
      throw NotSeen("it never gets ready: " + what_went_wrong(process.end().record));
    }
    process.open_gate();
    bool early = false;
    while (!process.ended() && !early) {
      process.watch(1, [&] {  // More than once: a worker may store a word in several steps.
        early = true;
        for (int look = 0; look < 3 && early; ++look) {
          early = launches_before_all_have_come(process.recorder(), kThreads);
        }
        return early;
      });
    }
    if (early) {
      return "its threads do not meet at the start: one launches while another has not come, or "
             "does not say that it waits";
    }
  }
  return "";
}

std::string slots(const Subject& subject) {
  const bool several = subject.honours("threads");
  const size_t threads = several ? 3 : 1;
  const Seen seen = sound(subject, several ? Axes{{"threads", "3"}} : Axes{});
  for (size_t k = 0; k < seen.slots.size(); ++k) {
    const Seen::Slot& slot = seen.slots[k];
    if (k == recorder_layout::kMainThread) continue;
    if (k >= threads) {
      if (slot.begun || slot.launches > 0 || slot.progress > 0) {
        return fmt::format(
            "it writes to slot {} of the flight recorder, which is no thread's of the cell", k);
      }
      continue;
    }
    if (!slot.begun || slot.progress == 0) {
      return fmt::format("thread {} writes nothing into its slot of the flight recorder", k);
    }
    if (slot.launches != default_iterations()) {
      return fmt::format(
          "slot {} of the flight recorder counts {} launches, and its thread makes {}", k,
          slot.launches, default_iterations());
    }
    if (slot.operation.empty())
      return fmt::format("slot {} of the flight recorder names no operation", k);
  }
  return seen.inside == 0 ? "" : "it counts threads into a launch and not out";
}

constexpr std::array kRules{
    Rule{"defaults", "does what an axis has as its default, where the cell leaves it out",
         defaults},
    Rule{"axes", "does what an axis says that it names as honoured", axes_it_names},
    Rule{"meeting", "has its threads meet before the first launches", meeting},
    Rule{"slots", "notes in each thread's slot what that thread does, and in no other", slots},
};

}  // namespace

std::span<const Rule> rules_of_threads() {
  return kRules;
}

}  // namespace mpsprobe
