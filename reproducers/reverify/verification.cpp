#include "reproducers/reverify/verification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "harness/input/json_shape.h"
#include "harness/statistics/anytime.h"
#include "harness/wire/backend.h"
#include "reports/words/safe_text.h"
#include "reports/writers/json.h"
#include "reproducers/reverify/power.h"

namespace mpsprobe {
namespace {

using ordered = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int kMostVerdictDepth = 16;
constexpr size_t kMostVerdictText = 1000;

std::string p_in_table(const std::optional<double>& p) {
  if (!p.has_value()) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.2g}", *p);
}

std::string build_text(const BundleBuild& build) {
  if (!build.version.empty()) return build.version;
  if (!build.build_id.empty()) return "build " + build.build_id.substr(0, 12);
  return build.git_hash.empty() ? "of unknown build" : "git " + build.git_hash.substr(0, 12);
}

std::string system_text(const BundleMachine& machine) {
  std::string text = machine.os.empty() ? "unknown system" : machine.os;
  if (!machine.os_build.empty()) text += " (" + machine.os_build + ")";
  if (!machine.model.empty()) text += ", " + machine.model;
  if (!machine.chip.empty()) text += ", " + machine.chip;
  return text;
}

ordered build_json(const BundleBuild& build) {
  return {{"version", build.version}, {"git_hash", build.git_hash}, {"build_id", build.build_id}};
}

ordered arm_json(const std::optional<ArmNow>& arm, Sampling sampling) {
  if (!arm.has_value()) return nullptr;
  const Interval rate = rate_interval(sampling, arm->same.failures, arm->same.trials);
  return {{"label", arm->label},
          {"build", build_json(arm->build)},
          {"proved", arm->proved},
          {"devices", arm->devices},
          {"failures", arm->same.failures},
          {"otherwise", arm->otherwise},
          {"other_signature", arm->other_signature},
          {"trials", arm->same.trials},
          {"interval", {{"low", rate.low}, {"high", rate.high}, {"confidence", 0.95}}}};
}

template <typename Value>
ordered or_null(const std::optional<Value>& value) {
  return value.has_value() ? ordered(*value) : ordered(nullptr);
}

ordered reasons_json(const std::vector<Reason>& reasons) {
  ordered list = ordered::array();
  for (Reason reason : reasons) list.push_back(name_of(reason));
  return list;
}

ordered cell_json(const CellBeforeAndNow& cell, const CellConclusion& conclusion,
                  Sampling sampling) {
  return {{"cell", cell.cell},
          {"control", cell.control},
          {"finding", name_of(conclusion.finding)},
          {"words", in_words(cell, conclusion)},
          {"reasons", reasons_json(conclusion.reasons)},
          {"before",
           {{"build", build_json(cell.build_before)},
            {"devices", cell.devices_before},
            {"failures", cell.before.failures},
            {"otherwise", cell.otherwise_before},
            {"trials", cell.before.trials}}},
          {"old_arm", arm_json(cell.old_arm, sampling)},
          {"new_arm", arm_json(cell.new_arm, sampling)},
          {"p_before_and_now", or_null(conclusion.p_before_and_now)},
          {"p_arms", or_null(conclusion.p_arms)},
          {"corrected_p_arms", or_null(conclusion.corrected_p_arms)},
          {"trials_needed", or_null(conclusion.trials_needed)}};
}

ordered machine_json(const BundleMachine& machine) {
  return {{"os", machine.os},
          {"os_build", machine.os_build},
          {"model", machine.model},
          {"chip", machine.chip}};
}

std::string prefix(const Verification& verification) {
  if (verification.simulated) return "SIMULATED: ";
  return verification.paravirtual ? "PARAVIRTUAL GPU: " : "";
}

/// "9/20" or "9/20 and 2 otherwise".
std::string count_text(const Proportion& same, int otherwise) {
  return fmt::format("{}/{}", same.failures, same.trials) +
         (otherwise > 0 ? fmt::format(", {} otherwise", otherwise) : "");
}

std::string count_text(const std::optional<ArmNow>& arm) {
  if (!arm.has_value()) return "not run";
  return arm->same.trials == 0 ? "nothing counted" : count_text(arm->same, arm->otherwise);
}

std::string cell_text(const CellBeforeAndNow& cell) {
  return cell.control ? cell.cell + " (control)" : cell.cell;
}

/// One row for each cell: what stands in every table.
std::vector<std::vector<std::string>> rows_of(const Verification& verification) {
  std::vector<std::vector<std::string>> rows{
      {"cell", "before", "old arm now", "new arm now", "p before/now", "p old/new", "finding"}};
  for (size_t i = 0; i < verification.cells.size(); ++i) {
    const CellBeforeAndNow& cell = verification.cells[i];
    const CellConclusion& conclusion = verification.conclusion.cells[i];
    rows.push_back({printable(cell_text(cell)), count_text(cell.before, cell.otherwise_before),
                    count_text(cell.old_arm), count_text(cell.new_arm),
                    p_in_table(conclusion.p_before_and_now), p_in_table(conclusion.p_arms),
                    words_of(conclusion.finding)});
  }
  return rows;
}

/// What is under test in a cell, whose text may be anybody's.
std::string_view library_of(std::string_view cell) {
  for (const BackendInfo& row : backend_table::kRows) {
    if (cell.substr(0, cell.find('/')) == row.name && !row.library.empty()) return row.library;
  }
  return "library";
}

/// The arms as they ran: label, build, devices; each once.
std::vector<std::string> arms_text(const Verification& verification) {
  std::vector<std::string> lines;
  const auto add = [&lines](const char* role, const std::optional<ArmNow>& arm,
                            std::string_view library) {
    if (!arm.has_value()) return;
    const std::string build =
        is_known(arm->build) ? fmt::format("{} {}", library, build_text(arm->build)) : "no library";
    std::string line =
        fmt::format("{} arm: {}, {}{}{}, on {}", role, arm->label, build,
                    arm->build.build_id.empty() ? "" : ", id ", arm->build.build_id,
                    arm->devices.empty() ? "an unknown device"
                                         : fmt::format("{}", fmt::join(arm->devices, ", ")));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  };
  for (const CellBeforeAndNow& cell : verification.cells) {
    add("old", cell.old_arm, library_of(cell.cell));
    add("new", cell.new_arm, library_of(cell.cell));
  }
  return lines;
}

std::vector<std::string> remarks_of(const Verification& verification) {
  std::vector<std::string> lines;
  if (verification.simulated) {
    lines.emplace_back(
        "SIMULATED: everything here ran on a simulated Metal device with planted defects. It says "
        "nothing about Apple's software, any GPU or PyTorch's MPS backend.");
  }
  if (verification.paravirtual) {
    lines.emplace_back(
        "The GPU is that of a virtual Mac, a class of its own: no result of a chip.");
  }
  if (!verification.complete) {
    lines.emplace_back("The run was cut short: what is said holds for the trials that were run.");
  }
  const BundleMachine& before = verification.record.machine;
  const bool same_system =
      before.os == verification.machine.os && before.os_build == verification.machine.os_build;
  if (!before.os.empty() && !same_system) {
    lines.push_back(
        fmt::format("The system was {} and is {} now. No arm ran on the old one: what changed with "
                    "the system is never told apart here.",
                    system_text(before), system_text(verification.machine)));
  }
  if (!verification.not_set.empty()) {
    lines.push_back(fmt::format(
        "The bundle's run set variables that this one did not: {}. Give them with --env.",
        fmt::join(verification.not_set, ", ")));
  }
  return lines;
}

std::string how(const Verification& verification) {
  return fmt::format(
      "{} trials of each cell and arm in one order drawn from seed {}; old against new by {}, "
      "level {}, by Holm over all cells; before against now by {}; measured {}, verified {}",
      verification.trials, verification.seed, equality_method(verification.sampling()),
      kVerifyLevel, equality_method(Sampling::looking), verification.record.measured,
      verification.started);
}

}  // namespace

std::string verification_json(const Verification& verification) {
  ordered cells = ordered::array();
  for (size_t i = 0; i < verification.cells.size(); ++i) {
    cells.push_back(cell_json(verification.cells[i], verification.conclusion.cells[i],
                              verification.sampling()));
  }
  const BundleConclusion& conclusion = verification.conclusion;
  return json_text({{"mpsprobe_verify", kVersion},
                    {"mpsprobe_version", verification.mpsprobe_version},
                    {"simulated", verification.simulated},
                    {"paravirtual", verification.paravirtual},
                    {"signature", verification.record.signature},
                    {"measured", verification.record.measured},
                    {"verified", verification.started},
                    {"complete", verification.complete},
                    {"finding", name_of(conclusion.finding)},
                    {"words", prefix(verification) + in_words(conclusion)},
                    {"reasons", reasons_json(conclusion.reasons)},
                    {"other_signature", conclusion.other_signature},
                    {"trials_needed", or_null(conclusion.trials_needed)},
                    {"level", kVerifyLevel},
                    {"power", kPower},
                    {"trials", verification.trials},
                    {"seed", verification.seed},
                    {"machine_before", machine_json(verification.record.machine)},
                    {"machine_now", machine_json(verification.machine)},
                    {"not_set", verification.not_set},
                    {"cells", cells}});
}

std::string verification_markdown(const Verification& verification) {
  return fmt::format("# {}{}\n\nA bundle run again.\n\n{}", prefix(verification),
                     escaped(in_words(verification.conclusion)),
                     code_block(verification_terminal(verification)));
}

std::string verification_terminal(const Verification& verification) {
  const std::vector<std::vector<std::string>> rows = rows_of(verification);
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text =
      fmt::format("{}{}\n\n", prefix(verification), printable(verification.record.signature));
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += '\n';
  for (size_t i = 0; i < verification.cells.size(); ++i) {
    const CellConclusion& conclusion = verification.conclusion.cells[i];
    if (conclusion.finding == RecheckFinding::as_before) continue;
    text += fmt::format("{}: {}\n", printable(cell_text(verification.cells[i])),
                        printable(in_words(verification.cells[i], conclusion)));
  }
  for (const std::string& arm : arms_text(verification)) text += printable(arm) + "\n";
  for (const std::string& remark : remarks_of(verification)) text += printable(remark) + "\n";
  text += how(verification) + "\n";
  return text + fmt::format("\n{}{}\n", prefix(verification),
                            printable(in_words(verification.conclusion)));
}

VerdictLine read_verdict(const std::string& text, const std::string& place) {
  using nlohmann::json;
  const json value =
      nested_deeper(text, kMostVerdictDepth) ? json() : json::parse(text, nullptr, false);
  const auto word = [&value](const char* key) {
    const bool there = value.is_object() && value.contains(key) && value.at(key).is_string();
    return there ? shortened(printable(value.at(key).get<std::string>()), kMostVerdictText)
                 : std::string();
  };
  const bool ours = value.is_object() && value.contains("mpsprobe_verify") &&
                    value.at("mpsprobe_verify") == kVersion;
  if (!ours || word("words").empty()) {
    throw InputError(place, "is nothing that `mpsprobe verify` wrote", "Take it away");
  }
  return {word("verified"), word("words")};
}

}  // namespace mpsprobe
