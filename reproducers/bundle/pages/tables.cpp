#include <fmt/format.h>

#include "harness/statistics/interval.h"
#include "reports/claims/boundary_fields.h"
#include "reports/claims/layers.h"
#include "reports/words/cell_label.h"
#include "reports/words/counted.h"
#include "reports/words/report_words.h"
#include "reports/words/safe_text.h"
#include "reports/writers/json.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/minimise/minimum_report.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostRows = 500;

std::string head(const BundleFinding& finding, const std::string& title) {
  std::string text = finding.watermark.empty() ? "" : finding.watermark + "\n\n";
  text += fmt::format("# {}\n\nSignature: {}\n\n", title, code_span(finding.group->title));
  if (finding.paravirtual) text += "On the GPU of a virtual Mac: no result of a real chip.\n\n";
  return text;
}

std::string percent_range(const Interval& interval) {
  return fmt::format("{} to {}", percent_down(interval.low), percent_up(interval.high));
}

}  // namespace

std::string rate_markdown(const BundleFinding& finding) {
  std::string text = head(finding, "Measured rate");
  text += "Trials in fresh processes; failed: by this signature. The interval, of 95%: " +
          std::string(interval_method(finding.evidence->analysis.sampling)) +
          ".\n\n"
          "| cell | build | threads | failed / total | interval | failed otherwise |\n"
          "|---|---|---|---|---|---|\n";
  size_t rows = 0;
  for (const CellCount& count : finding.cells) {
    if (rows++ == kMostRows) break;
    const CellSummary& summary = *count.summary;
    text += fmt::format("| {} | {} | {} | {}/{} | {} | {} |\n", code_span(summary.id),
                        escaped(finding.evidence->analysis.arms[summary.arm].label, 60),
                        summary.cell.threads, count.failures, summary.counted,
                        percent_range(count.rate), count.otherwise);
  }
  if (finding.cells.size() > kMostRows) {
    text += fmt::format("\n{} more: rate.json\n", finding.cells.size() - kMostRows);
  }
  return text;
}

std::string rate_json(const BundleFinding& finding) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const CellCount& count : finding.cells) {
    const CellSummary& summary = *count.summary;
    cells.push_back(
        {{"cell", summary.id},
         {"build", finding.evidence->analysis.arms[summary.arm].label},
         {"threads", summary.cell.threads},
         {"processes", summary.cell.processes},
         {"iterations", summary.cell.iterations},
         {"failed", count.failures},
         {"failed_otherwise", count.otherwise},
         {"total", summary.counted},
         {"interval", {{"low", count.rate.low}, {"high", count.rate.high}, {"confidence", 0.95}}},
         {"most_inside", summary.most_inside}});
  }
  nlohmann::ordered_json json{{"simulated", finding.simulated},
                              {"paravirtual", finding.paravirtual}};
  if (!finding.watermark.empty()) json["watermark"] = finding.watermark;
  json["signature"] = finding.group->title;
  json["cells"] = std::move(cells);
  return json_text(json);
}

std::string boundary_markdown(const BundleFinding& finding) {
  std::string text = head(finding, "Boundary");
  text += "Of failures of any signature, in the run that this was made from.\n\n";
  for (const Boundary* boundary : finding.boundaries) {
    text += fmt::format("- {}, by {} ({}): {}\n",
                        escaped(std::string(name_of(boundary->group.backend)) + " " +
                                cell_label(boundary->group, {"threads", "processes"})),
                        escaped(boundary->axis), escaped(boundary->worker, 60),
                        escaped(boundary_in_words(*boundary), 600));
  }
  if (finding.boundaries.empty()) {
    text += "None: the run has no two counts of threads or processes of these cells.\n";
  }
  return text;
}

std::string layers_markdown(const BundleFinding& finding) {
  std::string text = head(finding, "What is known on each layer");
  const Analysis& analysis = finding.evidence->analysis;
  text +=
      "A difference is claimed where Fisher's exact test gives p < 0.05 after Holm's "
      "correction.\n\n";
  for (const Comparison* comparison : finding.comparisons) {
    const CellSummary& one = analysis.cells[comparison->first];
    const CellSummary& two = analysis.cells[comparison->second];
    text += fmt::format("- {} ({}, {}/{}) and {} ({}, {}/{}): {}\n", code_span(one.id),
                        escaped(analysis.arms[one.arm].label, 60), one.failures, one.counted,
                        code_span(two.id), escaped(analysis.arms[two.arm].label, 60), two.failures,
                        two.counted, escaped(conclusion_in_words(analysis, *comparison), 400));
  }
  if (finding.comparisons.empty()) {
    text += "Nothing: the run has these cells on one layer and with one build only.\n";
  }
  return text;
}

std::string conditions_markdown(const BundleFinding& finding) {
  const auto& minimum = finding.reproduction.minimum;
  if (!minimum.has_value()) return "";
  return (finding.watermark.empty() ? "" : finding.watermark + "\n\n") + minimum_markdown(*minimum);
}

std::string programs_markdown(const BundleFinding& finding) {
  const Reproduction& known = finding.reproduction;
  std::string text = head(finding, "The programs, and how they were tried");
  text += fmt::format("Cell: {}{}\n\n", code_span(to_string(known.cell)),
                      known.minimised ? ", the minimal one" : ", not minimised");
  text += "The cell itself, with mpsprobe:\n\n" + code_block(rerun_command(finding), "sh") + "\n";
  for (const Program& program : known.programs) {
    text += fmt::format("## {}\n\n", escaped(program.kind, 40));
    if (!program.why_not.empty()) text += escaped(program.why_not, 400) + "\n\n";
    if (!program.build.empty() || !program.run.empty()) {
      text += code_block(program.build + (program.build.empty() ? "" : "\n") + program.run, "sh") +
              "\n";
    }
    for (const std::string& axis : program.not_expressed) {
      text += "- Not expressed: " + escaped(axis, 300) + "\n";
    }
    text += '\n';
  }
  text += "## Tried before they were handed out\n\n";
  if (known.proofs.empty()) return text + "None of them was built or run.\n";
  text +=
      "| program | arm | what was done | as expected | held | why not "
      "|\n|---|---|---|---|---|---|\n";
  for (const ProofLine& proof : known.proofs) {
    text += fmt::format("| {} | {} | {} | {}/{} | {} | {} |\n", escaped(proof.program, 40),
                        escaped(proof.arm, 40), escaped(proof.what, 300), proof.k, proof.n,
                        proof.held ? "yes" : (proof.n == 0 ? "not tried" : "NO"),
                        escaped(proof.problem, 300));
  }
  return text;
}

}  // namespace mpsprobe
