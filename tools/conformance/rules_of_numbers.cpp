#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "harness/executor/environment.h"
#include "tools/conformance/rules.h"

namespace mpsprobe {
namespace {

using Request = WatchedProcess::Request;

Seen sound(const Subject& subject, const Request& request) {
  Seen seen = run_through(subject, request);
  if (const std::string wrong = what_went_wrong(seen.record); !wrong.empty()) {
    throw NotSeen(fmt::format("{}: the worker {}", to_string(request.cell), wrong));
  }
  return seen;
}

/// What tells one run's numbers from another's.
std::string digest(const Subject& subject, const Request& request) {
  return sound(subject, request).numbers;
}

std::string numbers(const Subject& subject) {
  const Cell one = subject.cell();
  const Cell two = subject.cell({{"processes", "2"}});
  const Cell fresh = subject.cell({{"lifetime", "fresh"}});
  const std::string first = digest(subject, {.cell = one});
  if (first.empty()) throw NotSeen("its result does not tell of its numbers (key numbers)");
  if (digest(subject, {.cell = one}) != first) {
    return "the same seed, process and iteration have other numbers the second time";
  }
  if (digest(subject, {.cell = two, .process = 1}) == digest(subject, {.cell = two})) {
    return "both processes of a cell have the same numbers";
  }
  if (digest(subject, {.cell = fresh, .iteration = 1}) == digest(subject, {.cell = fresh})) {
    return "two iterations with lifetime=fresh have the same numbers";
  }
  if (digest(subject, {.cell = one, .seed = 2}) == first) {
    return "another seed has the same numbers";
  }
  return "";
}

std::string comparing(const Subject& subject) {
  const Cell cell = subject.cell();
  const ResultEvent result = *sound(subject, {.cell = cell}).record.result;
  if (result.checked > result.operations) {
    return fmt::format("it says that it compared {} results of {} iterations", result.checked,
                       result.operations);
  }
  if (!subject.describe().value("spoils", false)) {
    throw NotSeen("it does not offer to spoil a result (spoils in its answer to describe)");
  }
  const Seen spoilt = run_through(subject, {.cell = cell, .variables = {"MPSPROBE_SPOIL=1"}});
  const std::vector<FailureEvent>& failures = spoilt.record.failures;
  const bool told = std::any_of(failures.begin(), failures.end(), [](const FailureEvent& failure) {
    return failure.kind == "wrong_result";
  });
  return told ? "" : "it passes with a result that was spoilt on purpose: it does not compare";
}

/// What two runs of the same assignment must have in common.
std::string difference(const Seen& got, const Seen& expected) {
  if (std::string wrong = what_went_wrong(got.record); !wrong.empty()) return wrong;
  const ResultEvent& a = *got.record.result;
  const ResultEvent& b = *expected.record.result;
  if (a.operations != b.operations) {
    return fmt::format("tells of {} iterations and not {}", a.operations, b.operations);
  }
  if (got.numbers != expected.numbers) return "has other numbers";
  for (size_t k = 0; k < got.slots.size(); ++k) {
    if (got.slots[k].launches != expected.slots[k].launches) {
      return fmt::format("counts {} launches in slot {} and not {}", got.slots[k].launches, k,
                         expected.slots[k].launches);
    }
  }
  return "";
}

std::string standby(const Subject& subject) {
  if (!subject.has_start("standby")) throw NotSeen("it does not offer to stand by");
  const Cell cell = subject.cell();
  const Seen executed = sound(subject, {.cell = cell});
  const std::string found =
      difference(run_through(subject, {.cell = cell, .standby = true}), executed);
  return found.empty() ? "" : fmt::format("a process that stood by {}", found);
}

std::string forks(const Subject& subject) {
  if (!subject.has_start("fork")) {
    const std::string why = subject.describe().value("no_fork", "");
    throw NotSeen("it does not offer to fork trials" + (why.empty() ? "" : ": " + why));
  }
  const Cell cell = subject.cell({{"processes", "2"}});
  const std::array executed{sound(subject, {.cell = cell}),
                            sound(subject, {.cell = cell, .process = 1})};
  ForkServer server({subject.path(), "fork", "--backend", std::string(name_of(cell.backend))},
                    worker_environment(cell, inherited_environment(), {}));
  // What one leaves in the server, the next would have.
  constexpr std::array<std::string_view, 4> kNames{"first", "second", "third", "fourth"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const int process = static_cast<int>(i / 2);
    const Seen forked = run_through(subject, {.cell = cell, .process = process, .server = &server});
    if (std::string found = difference(forked, executed[i / 2]); !found.empty()) {
      return fmt::format("the {} trial that its server forks {}, where one executed does",
                         kNames[i], found);
    }
  }
  return "";
}

constexpr std::array kRules{
    Rule{"numbers", "draws the numbers of its seed, process and iteration", numbers},
    Rule{"comparing", "compares its results, and tells of a wrong one", comparing},
    Rule{"standby", "does the same where it learns its cell from its gate", standby},
    Rule{"forks", "does the same in every trial that it forks", forks},
};

}  // namespace

std::span<const Rule> rules_of_numbers() {
  return kRules;
}

}  // namespace mpsprobe
