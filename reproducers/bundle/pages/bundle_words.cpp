#include "reproducers/bundle/pages/bundle_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/campaign/rerun.h"
#include "harness/statistics/interval.h"
#include "harness/wire/own_command.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"

namespace mpsprobe {

std::string outcome_in_words(const Judgement& judgement) {
  std::string text = words(name_of(judgement.outcome));
  if (!judgement.detail.empty() && judgement.outcome == Outcome::signal) {
    text += " " + shortened(printable(judgement.detail), 40);
  }
  return text;
}

std::string cell_in_words(const Cell& cell) {
  std::string text = cell_label(cell, {"threads", "processes"});
  text += ", " + counted(cell.threads, "threads");
  if (cell.processes > 1) text += fmt::format(" in each of {} processes", cell.processes);
  return text;
}

std::string count_in_words(const CellCount& count) {
  std::string text =
      fmt::format("{}: {}", cell_in_words(count.summary->cell),
                  confidence_in_words(count.failures, count.summary->counted, count.rate));
  if (count.otherwise > 0) {
    text += fmt::format("; {} more failed by another signature", count.otherwise);
  }
  if (count.failures == 0 && count.summary->overlap == Overlap::none) {
    text += "; no two threads were ever inside an operation at once, so this shows nothing";
  }
  return text;
}

std::vector<std::string> misuse_in_words(const BundleFinding& finding) {
  std::vector<std::string> lines;
  const std::vector<CheckedCount> checked = count_checked(finding);
  std::vector<CheckedCount> counts = checked;  // with Metal's validation
  std::erase_if(counts, [](const auto& each) { return each.cell->validation == Validation::none; });
  const auto any = [&](auto is) { return std::any_of(counts.begin(), counts.end(), is); };
  if (!any([](const CheckedCount& count) { return count.enough; })) {
    lines.push_back(
        "No trial of this operation ran with Metal's validation on and as many threads as the "
        "failure needs: misuse was not ruled out in that way.");
  }
  for (const CheckedCount& count : counts) {
    lines.push_back(fmt::format(
        "With Metal's validation on, {}: {} of {} failed by this signature, {} by another; the "
        "banner of the checks was seen in {}.{}",
        to_string(*count.cell), count.same, counted(count.trials, "trials"), count.otherwise,
        count.proved,
        count.enough ? ""
                     : " Fewer threads than the failure needs: what passes here rules out "
                       "nothing about several."));
  }
  if (any([](const CheckedCount& count) { return count.otherwise > 0; })) {
    lines.push_back("Look at those others first: the checks themselves may have objected.");
  }
  for (const CheckedCount& count : checked) {
    if (count.observed == 0) continue;
    lines.push_back(fmt::format(
        "Rules observed, {}: {} in {}, {}{}.{}", to_string(*count.cell),
        counted(static_cast<int64_t>(count.calls), "calls"), counted(count.observed, "trials"),
        count.broken == 0 ? "none broken"
                          : fmt::format("broken by the caller in {} of them", count.broken),
        count.suspected == 0 ? "" : fmt::format("; suspicions in {}, no proof", count.suspected),
        count.enough ? "" : " Fewer threads than the failure needs."));
  }
  for (const Proof& proof : finding.reproduction.proofs) {
    if (proof.kind != Kind::metal || !proof.held || proof.n == 0) continue;
    lines.push_back(
        fmt::format("Metal program, {}: {} of {} as expected.", proof.what, proof.k, proof.n));
  }
  return lines;
}

std::vector<std::string> unverified(const BundleFinding& finding) {
  std::vector<std::string> lines;
  const Reproduction& known = finding.reproduction;
  if (finding.group->thin()) {
    lines.push_back(
        "The signature rests only on the place where the process was: two bugs may share it.");
  } else if (!finding.group->known) {
    lines.push_back(
        "The text of the failure is none that mpsprobe knows: its title may be too wide.");
  }
  if (!known.minimised) {
    lines.push_back(
        "The failure was not minimised: the cell with the fewest threads that failed is shown. "
        "`mpsprobe repro` minimises it.");
  }
  const bool command = known.cell.backend == Backend::command;
  if (known.needs_code) {
    lines.push_back(needed_code_in_words(finding) +
                    (command ? "" : " `mpsprobe feedback --with-code` packs it."));
  }
  const bool any = std::any_of(known.programs.begin(), known.programs.end(),
                               [](const Emission& program) { return !program.files.empty(); });
  if (!any && !command) lines.push_back("There is no program: only the mpsprobe command.");
  if (any && known.proofs.empty()) {
    lines.push_back("The programs were not built or run before they were put in here.");
  }
  for (const Proof& proof : known.proofs) {
    if (proof.held || (proof.arm == ProofArm::rate && proof.k > 0)) continue;
    lines.push_back(fmt::format("{}, {}: {} {}", name_of(proof.kind), name_of(proof.arm),
                                proof.n == 0
                                    ? "could not be tried:"
                                    : fmt::format("{} of {} as expected:", proof.k, proof.n),
                                proof.problem.empty() ? "no reason given" : proof.problem));
  }
  for (const std::string& line : known.not_taken) lines.push_back(line);
  return lines;
}

std::vector<std::string> others_in_words(const BundleFinding& finding) {
  std::vector<std::string> lines;
  for (const SignatureGroup* other : finding.with) {
    int trials = 0;
    for (const SignatureGroup::Where& where : other->cells) trials += where.counted;
    lines.push_back(fmt::format("{}: {} of {} in {}", shortened(printable(other->title), 300),
                                other->failures, counted(trials, "trials"),
                                counted(other->cells.size(), "cells")));
  }
  return lines;
}

std::string needed_code_in_words(const BundleFinding& finding) {
  if (!finding.reproduction.needs_code) return "";
  if (finding.reproduction.cell.backend == Backend::command) {
    return "The command is a program of the reporter's own, which was not packed.";
  }
  return fmt::format("{} is Python code of the reporter's own, whose file was not packed.",
                     finding.reproduction.cell.op);
}

bool shown_to_fail(const BundleFinding& finding, Kind kind) {
  return std::ranges::any_of(finding.reproduction.proofs, [kind](const Proof& proof) {
    return proof.kind == kind && proof.arm == ProofArm::failing && proof.held;
  });
}

std::string rerun_command(const BundleFinding& finding) {
  CampaignHeader header = finding.evidence->journal.header;
  const Arm& arm = finding.arm();
  // Who reads it has another machine: its workers, and what was taken out of variables and paths,
  // are not there. A build that was named must not be taken for the reader's own.
  std::string worker = "stock";
  std::string path;
  if (names_workers(header.command_line)) {
    worker = arm.worker;
    path = arm.version.empty() ? "<its worker>"
                               : fmt::format("<a worker of {} {}>", arm.name, arm.version);
  }
  header.command_line = for_others(header.command_line);
  std::erase_if(header.environment, [](const std::string& variable) {
    return variable.find_first_of("<~*") != std::string::npos;
  });
  Cell cell = finding.reproduction.cell;
  if (cell.backend == Backend::command) {
    worker = "command";
    if (!own_command_in(header.environment).has_value()) {  // it was kept out
      cell.op = "command";
      header.environment.push_back(to_variable(OwnCommand{.words = {"COMMAND"}}));
    }
  }
  return shell_command(rerun_arguments(header, worker, path, to_string(cell)));
}

}  // namespace mpsprobe
