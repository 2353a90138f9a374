#include "harness/executor/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace mpsprobe {
namespace {

constexpr double kTolerance = 1e-4;
constexpr size_t kShown = 60;

std::string_view next_word(std::string_view& text, int& line) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    line += text.front() == '\n' ? 1 : 0;
    text.remove_prefix(1);
  }
  size_t end = 0;
  while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// The number of a word, with the signs of a list around it: "[1.5,".
bool is_number(const std::string& word, double& value) {
  const char* const begin = word.c_str() + std::min(word.find_first_not_of("[("), word.size());
  char* end = nullptr;
  value = std::strtod(begin, &end);
  return end != begin && std::string_view(end).find_first_not_of(",;])") == std::string::npos;
}

bool same_word(const std::string& one, const std::string& other) {
  if (one == other) return true;
  double first = 0;
  double second = 0;
  if (!is_number(one, first) || !is_number(other, second)) return false;
  return std::abs(first - second) <= kTolerance * std::max(std::abs(first), std::abs(second));
}

std::string shown(const std::string& word) {
  return word.empty() ? "nothing" : '"' + word.substr(0, kShown) + '"';
}

FailureEvent failure_of(const char* kind, std::string text, std::string what) {
  FailureEvent failure;
  failure.kind = kind;
  failure.text = std::move(text);
  failure.phase = name_of(Phase::run);
  failure.operation = std::move(what);
  return failure;
}

std::string why_not_compared(const Capture& output) {
  if (output.dropped() == 0) return "";
  return fmt::format(
      "it printed {} bytes, of which {} were not kept and cannot be compared: print less, "
      "such as a sum",
      output.bytes, output.dropped());
}

}  // namespace

std::string difference(std::string_view expected, std::string_view output) {
  int expected_line = 1;
  int line = 1;
  for (;;) {
    const std::string wanted(next_word(expected, expected_line));
    const std::string got(next_word(output, line));
    if (wanted.empty() && got.empty()) return "";
    if (!same_word(wanted, got))
      return fmt::format("line {}: expected {}, got {}", line, shown(wanted), shown(got));
  }
}

const OutputCheck::Expected& OutputCheck::expected(const Cell& cell, uint64_t seed,
                                                   const RunAlone& run_alone) {
  std::string key;
  if (command_.expect_output == "same") {
    Cell alone = cell;
    alone.threads = alone.processes = 1;
    key = to_string(alone) + (names_parameter(command_, "seed") ? " " + std::to_string(seed) : "");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [at, is_new] = expected_.try_emplace(key);
  if (!is_new) return at->second;
  if (!key.empty()) {
    const ProcessRecord record = run_alone();
    at->second.output = record.out.text();
    at->second.problem = why_not_compared(record.out);
    if (record.termination != Termination(Exited{0}))
      at->second.problem = "with one thread it does not end with 0: nothing to compare with";
  } else if (std::ifstream file(command_.expect_output, std::ios::binary); file) {
    at->second.output = {std::istreambuf_iterator<char>(file), {}};
  } else {
    at->second.problem = command_.expect_output + " cannot be read";
  }
  return at->second;
}

void OutputCheck::look_at(ProcessRecord& process, const Cell& cell, uint64_t seed,
                          const RunAlone& run_alone) {
  if (!process.own_command || process.termination != Termination(Exited{0})) return;
  for (const std::string& text : command_.fail_on_output) {
    const bool printed = process.out.text().find(text) != std::string::npos ||
                         process.err.text().find(text) != std::string::npos;
    if (printed) process.failures.push_back(failure_of("wrong_result", text, "it printed " + text));
  }
  if (command_.expect_output.empty()) return;
  const Expected& wanted = expected(cell, seed, run_alone);
  const std::string problem =
      wanted.problem.empty() ? why_not_compared(process.out) : wanted.problem;
  if (!problem.empty()) {
    process.failures.push_back(failure_of("setup_failed", problem, ""));
    return;
  }
  const std::string differs = difference(wanted.output, process.out.text());
  if (!differs.empty())
    process.failures.push_back(failure_of("wrong_result", differs, "another output than expected"));
  ResultEvent result;
  result.checked = 1;
  result.observed_path = "not observed";
  process.result = result;
}

}  // namespace mpsprobe
