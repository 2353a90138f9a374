#include "harness/matrix/matrix.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/input_file.h"
#include "harness/input/near_name.h"
#include "harness/input/placed_json.h"
#include "harness/wire/ascii.h"
#include "harness/wire/axis.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;  // of a matrix file

using nlohmann::json;

const char* const kSeeFormat = "The format is in docs/matrices.md";

std::optional<double> run_number(const PlacedJson& node, const char* name) {
  if (!node.has(name)) return std::nullopt;
  const auto key = std::find_if(kRunKeys.begin(), kRunKeys.end(),
                                [name](const RunKey& each) { return each.name == name; });
  if (!key->whole) return node.at(name).number(key->low, key->high);
  return node.at(name).count(static_cast<int>(key->low), static_cast<int>(key->high));
}

RunDefaults parse_run(const PlacedJson& node) {
  node.allow({"trials", "settle", "timeout", "stall", "budget", "memory_limit_mib"});
  RunDefaults run;
  if (const auto trials = run_number(node, "trials")) run.trials = static_cast<int>(*trials);
  run.settle_rate = run_number(node, "settle");
  run.timeout_seconds = run_number(node, "timeout");
  run.stall_seconds = run_number(node, "stall");
  run.budget_seconds = run_number(node, "budget");
  if (const auto mebibytes = run_number(node, "memory_limit_mib")) {
    run.memory_limit_bytes = static_cast<uint64_t>(*mebibytes) << 20;
  }
  const double timeout = run.timeout_seconds.value_or(TrialLimits().timeout_seconds);
  if (run.stall_seconds.has_value() && *run.stall_seconds > timeout) {
    node.at("stall").fail("is longer than the timeout, and would never count",
                          fmt::format("Write at most {:g}", timeout));
  }
  return run;
}

template <HasWords Enum>
Enum word_of(const PlacedJson& node, const char* key) {
  const std::string text = node.at(key).text();
  if (const auto value = named<Enum>(text)) return *value;
  node.at(key).fail(fmt::format("is no {}{}", key, did_you_mean(text, kWordsOf<Enum>)),
                    fmt::format("Write one of {}", fmt::join(kWordsOf<Enum>, ", ")));
}

Matrix::ExpectRule parse_expect(const PlacedJson& node) {
  node.allow({"where", "verdict", "outcome", "detail"});
  Matrix::ExpectRule rule;
  rule.selector = {parse_axes(node.at("where"))};
  if (node.has("verdict") == node.has("outcome")) {
    node.fail("needs either \"verdict\" or \"outcome\"", kSeeFormat);
  }
  if (node.has("detail") && !node.has("outcome")) {
    node.at("detail").fail("is of an outcome, and there is none",
                           "Name the outcome, or leave it out");
  }
  if (node.has("verdict")) {
    rule.expectation.verdict = word_of<Verdict>(node, "verdict");
  } else {
    rule.expectation.outcome = word_of<Outcome>(node, "outcome");
    if (node.has("detail")) rule.expectation.detail = node.at("detail").text();
  }
  return rule;
}

/// Whether a cell of the block could be one that `where` selects. Which backend a block without one
/// runs on is known only where it runs.
bool may_meet(const Block& block, const AxisValues& where) {
  return std::all_of(where.begin(), where.end(), [&block](const auto& wanted) {
    const auto own = block.axes.find(wanted.first);
    if (own == block.axes.end() && wanted.first == "backend") return true;
    const std::vector<std::string> usual{std::string(find_axis(wanted.first)->default_value)};
    const std::vector<std::string>& values = own == block.axes.end() ? usual : own->second;
    return std::any_of(values.begin(), values.end(), [&wanted](const std::string& value) {
      return std::find(wanted.second.begin(), wanted.second.end(), value) != wanted.second.end();
    });
  });
}

/// An expectation that no cell can meet is a mistake: it would hold for ever.
void refuse_useless_expectations(const Matrix& matrix, const PlacedJson& root) {
  const std::vector<PlacedJson> nodes = root.at("expect").items();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const AxisValues& where = matrix.expect[i].selector.where;
    const bool met =
        std::any_of(matrix.blocks.begin(), matrix.blocks.end(),
                    [&where](const Block& block) { return may_meet(block, where); }) ||
        std::any_of(matrix.include.begin(), matrix.include.end(), [&](const std::string& cell) {
          return matrix.expect[i].selector.matches(parse_cell(cell));
        });
    if (met) continue;
    nodes[i].at("where").fail("matches no cell of this matrix",
                              "Name values that its blocks have, or take the expectation out");
  }
}

}  // namespace

std::string Expectation::text() const {
  if (verdict.has_value()) return std::string(name_of(*verdict));
  std::string text(outcome.has_value() ? name_of(*outcome) : "");
  if (!detail.empty()) text += " " + detail;
  return text;
}

Matrix parse_matrix(const std::string& text, const std::string& place) {
  const json document = parse_once_keyed(text, place);
  const PlacedJson root(document, place, kSeeFormat);
  root.allow({"$schema", "mpsprobe_matrix", "name", "description", "run", "axes", "blocks",
              "include", "exclude", "expect"});
  root.at("mpsprobe_matrix").count(1, 1);
  Matrix matrix;
  matrix.name = root.at("name").text();
  if (!ascii::all_plain(matrix.name) || matrix.name.empty() || matrix.name.size() > 40 ||
      matrix.name.front() == '.') {
    root.at("name").fail("is no name: a folder is called after it",
                         "Write letters, digits, '.', '_' and '-', at most 40, no '.' in front");
  }
  if (root.has("description")) matrix.description = root.at("description").text();
  if (root.has("run")) matrix.run = parse_run(root.at("run"));
  if (root.has("axes") && root.has("blocks")) {
    root.at("axes").fail("stands beside \"blocks\"",
                         "Make it a block of its own, or take one of them out");
  }
  if (root.has("axes")) matrix.blocks.push_back({matrix.name, parse_axes(root.at("axes"))});
  if (root.has("blocks")) {
    for (const PlacedJson& node : root.at("blocks").items()) {
      node.allow({"title", "axes", "if_failed"});
      const bool if_failed = node.has("if_failed") && node.at("if_failed").flag();
      matrix.blocks.push_back({node.at("title").text(), parse_axes(node.at("axes")), if_failed});
    }
  }
  if (root.has("include")) {
    for (const PlacedJson& node : root.at("include").items()) {
      node.placed([&] { matrix.include.push_back(to_string(parse_cell(node.text()))); });
    }
  }
  if (root.has("exclude")) {
    for (const PlacedJson& node : root.at("exclude").items()) {
      matrix.exclude.push_back({parse_axes(node)});
      if (matrix.exclude.back().where.empty())
        node.fail("would exclude every cell", "Name an axis");
    }
  }
  if (root.has("expect")) {
    for (const PlacedJson& node : root.at("expect").items())
      matrix.expect.push_back(parse_expect(node));
  }
  if (root.has("expect")) refuse_useless_expectations(matrix, root);
  if (matrix.blocks.empty() && matrix.include.empty()) {
    root.fail("has no cells", "Give it \"axes\", \"blocks\" or \"include\"");
  }
  return matrix;
}

Matrix load_matrix(const std::filesystem::path& file) {
  const std::string text = read_input_file(
      file, kMostBytes, "Name a matrix file, or a built-in matrix from `mpsprobe list matrices`");
  if (text.empty()) {
    throw InputError(file.string(), "is empty", "A matrix is a JSON object: see docs/matrices.md");
  }
  return parse_matrix(text, file.string());
}

}  // namespace mpsprobe
