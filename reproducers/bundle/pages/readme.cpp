#include <fmt/format.h>

#include <algorithm>

#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostCountsListed = 40;

std::string counts(const BundleFinding& finding) {
  std::string text;
  for (size_t i = 0; i < finding.cells.size() && i < kMostCountsListed; ++i) {
    text += "- " + escaped(count_in_words(finding.cells[i]), 300) + "\n";
  }
  if (finding.cells.size() > kMostCountsListed) {
    text += fmt::format("- {} more cells: report.json\n", finding.cells.size() - kMostCountsListed);
  }
  return text;
}

std::string programs(const Reproduction& known) {
  std::string text;
  for (const Emission& program : known.programs) {
    text += fmt::format("### {}\n\n", name_of(program.kind));
    if (!program.why_not.empty()) text += escaped(program.why_not, 400) + "\n\n";
    if (!program.build.empty() || !program.run.empty()) {
      text += code_block(program.build + (program.build.empty() ? "" : "\n") + program.run, "sh") +
              "\n";
    }
    for (const std::string& axis : program.not_expressed) {
      text += "- Not expressed: " + escaped(axis, 300) + "\n";
    }
    for (const Proof& proof : known.proofs) {
      if (proof.kind != program.kind) continue;
      text += fmt::format("- {}, {}: {}\n", name_of(proof.arm), escaped(proof.what, 300),
                          proof.n == 0
                              ? "not tried"
                              : fmt::format("{} of {}{}", proof.k, proof.n,
                                            proof.arm == ProofArm::rate ? "" : " as expected"));
    }
    if (!text.ends_with("\n\n")) text += '\n';
  }
  return text;
}

std::string left_out(const Redactor& redactor, bool with_code) {
  if (!redactor.enabled()) {
    return "Nothing: it was made with --no-redact. Personal data are in here.\n";
  }
  return fmt::format(
      "A text is in here only if the software under test contains it, or where it has a kind: "
      "numbers, times, releases, devices, names of the software's functions. {} of texts were left "
      "out in the whole run, and {} of output; `{}` stands in their place. Crash reports of the "
      "system, source files and images of your own are never in a bundle{}.{}\n",
      counted(redactor.texts_left_out(), "parts"), counted(redactor.lines_left_out(), "lines"),
      kLeftOut, with_code ? ", but for the Python code that was agreed to" : "",
      redactor.software().empty() ? " No library of the run was at hand where this was packed, so "
                                    "little of what it printed "
                                    "is in here."
                                  : "");
}

}  // namespace

std::string readme_markdown(const BundleFinding& finding, const std::vector<BundleFile>& files,
                            const Redactor& redactor) {
  std::string text = finding.watermark.empty() ? "" : finding.watermark + "\n\n";
  if (!redactor.enabled()) {
    text +=
        "NOT REDACTED: names, paths and identifiers of persons and machines are in here. Do not "
        "publish it.\n\n";
  }
  const std::vector<std::string> open = unverified(finding);
  text += open.empty() ? "Everything below was verified before it was put in here.\n"
                       : "What could not be verified:\n\n";
  for (const std::string& line : open) text += "- " + escaped(line, 500) + "\n";
  if (finding.paravirtual) {
    text += "\nMeasured on the GPU of a virtual Mac: no result of a real chip.\n";
  }
  text += fmt::format("\n# {}\n\n{}\n", escaped(finding.group->title, 300), counts(finding));
  text +=
      "It claims only what the trials in it measured, on one machine.\n\n"
      "| file | what is in it |\n|---|---|\n"
      "| issue.md | the text for the tracker, its title first |\n";
  const size_t program_files = static_cast<size_t>(std::count_if(
      files.begin(), files.end(), [](const auto& file) { return file.path.starts_with("prog"); }));
  if (program_files > 0) text += "| programs/ | programs that show the failure |\n";
  text +=
      "| report.json | counts, intervals, boundaries, comparisons, builds, system |\n"
      "| trials.ndjson | the raw trials with their stacks, one a line; those that passed as well "
      "|\n"
      "| bundle.json | what `mpsprobe verify` reads |\n"
      "| MANIFEST.sha256 | hashes of all other files: `shasum -a 256 -c MANIFEST.sha256` |\n";
  const std::string heading =
      program_files == 0
          ? "\n## The cell\n\nThe cell"
          : fmt::format("\n## The programs\n\n{} of the cell", counted(program_files, "files"));
  text += fmt::format("{} {}{}. With mpsprobe:\n\n{}\n{}", heading,
                      code_span(to_string(finding.reproduction.cell)),
                      finding.reproduction.minimised ? ", the minimal one" : ", not minimised",
                      code_block(rerun_command(finding), "sh"), programs(finding.reproduction));
  const auto& all = finding.reproduction.programs;
  const bool with_code = std::any_of(
      all.begin(), all.end(), [](const Emission& program) { return program.files.size() > 1; });
  text += "## What was left out\n\n" + left_out(redactor, with_code);
  text +=
      "\n## To file it\n\n"
      "1. Read issue.md, and fill in the headings that are marked as yours.\n"
      "2. Look at the files themselves: you hand them on, not mpsprobe.\n"
      "3. Attach the archive that lies beside this folder, where the tracker takes one.\n"
      "4. Write the number that you are given into a file filing.txt in this folder. `mpsprobe "
      "verify` runs the cells again on a later system.\n";
  // Apple alone asks for one.
  const Backend backend = finding.reproduction.cell.backend;
  if (backend == Backend::mlx || backend == Backend::command) return text;
  text +=
      "\nA sysdiagnose is not in here, and mpsprobe never takes one: it holds logs, names and "
      "files "
      "of the whole machine. If it is asked for, run `sudo sysdiagnose` soon after the failure, "
      "look "
      "at what it collected, and give it to Feedback Assistant alone, never to a public issue.\n";
  return text;
}

}  // namespace mpsprobe
