#include "tools/runner/feedback/feedback_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/input/input_error.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reports/writers/json.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/emit/emission.h"
#include "reproducers/proof/proof.h"
#include "reproducers/tracker/issue_text.h"
#include "reproducers/tracker/mlx_issue.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostPlacesShown = 20;

std::vector<ProofLine> proof_lines(const nlohmann::json& json) {
  std::vector<ProofLine> lines;
  for (const Proof& proof : read_proofs(json)) {
    lines.push_back({std::string(name_of(proof.kind)), proof.arm, proof.what, proof.command,
                     proof.problem, proof.k, proof.n, proof.held});
  }
  return lines;
}

std::vector<Program> programs_for(const Cell& cell, const std::string& signature,
                                  const std::string& watermark, double rate) {
  std::vector<Program> programs;
  EmissionRequest request;
  request.cell = cell;
  request.signature = signature;
  request.watermark = watermark;
  request.failure_rate = rate;
  request.programs = data_folder() / "programs";
  for (const Emission& emission : emit(request)) {
    Program program{std::string(name_of(emission.kind)),
                    {},
                    emission.build,
                    emission.run,
                    emission.not_expressed,
                    emission.why_not};
    for (const EmittedFile& file : emission.files) program.files.push_back({file.name, file.text});
    if (emission.kind != Kind::mpsprobe) programs.push_back(std::move(program));
  }
  return programs;
}

/// The issue for PyTorch's tracker. The evidence is redacted already, and the audit looks at it.
std::vector<BundleFile> issue_files(const BundleFinding& finding) {
  const Reproduction& known = finding.reproduction;
  IssueFacts facts;
  facts.analysis = &finding.evidence->analysis;
  facts.signature = finding.group->title;
  facts.cell = known.cell;
  facts.minimum = known.minimum.has_value() ? &*known.minimum : nullptr;
  facts.why_no_python = "no Python program was made of this cell";
  for (const Program& program : known.programs) {
    if (program.kind != "python") continue;
    if (!program.files.empty()) facts.python = program.files.front().bytes;
    if (!program.why_not.empty()) facts.why_no_python = program.why_not;
    facts.not_expressed = program.not_expressed;
  }
  for (const ProofLine& proof : known.proofs) {
    if (proof.program != "python") continue;
    if (proof.n == 0) continue;  // that nothing was tried is no news for those who read there
    facts.proof += fmt::format("{}: {} of {} as expected. ", proof.what, proof.k, proof.n);
  }
  facts.command = rerun_command(finding);
  std::string text = issue_text(facts);
  if (!finding.watermark.empty() && text.find("SIMULATED") > text.find('\n')) {
    text.insert(0, finding.watermark + "\n\n");
  }
  return {{"issue.md", text}, {"issue-title.txt", issue_title(facts) + "\n"}};
}

/// The issue for MLX's tracker, of the C++ program, or of the Python one where that was shown to
/// fail.
std::vector<BundleFile> mlx_issue_files(const BundleFinding& finding) {
  const Reproduction& known = finding.reproduction;
  if (known.cell.backend != Backend::mlx) {
    throw InputError("--for mlx",
                     "the failure is of the backend " + std::string(name_of(known.cell.backend)),
                     "Leave it out, or name another failure with --signature");
  }
  IssueFacts facts;
  facts.analysis = &finding.evidence->analysis;
  facts.signature = finding.group->title;
  facts.cell = known.cell;
  facts.command = rerun_command(finding);
  std::string text;
  std::string language = "cpp";
  for (const Program& program : known.programs) {
    const auto shown = [&program](const ProofLine& proof) {
      return proof.program == program.kind && proof.arm == "failing" && proof.held;
    };
    const bool failed = std::any_of(known.proofs.begin(), known.proofs.end(), shown);
    if (program.files.empty() || (!text.empty() && !failed)) continue;
    text = program.files.front().bytes;
    language = program.kind == name_of(Kind::mlx) ? "cpp" : "python";
    if (failed) break;
  }
  return {{"issue.md", mlx_issue_text(facts, text, language)}};
}

BundleOptions bundle_options(const FeedbackOptions& options) {
  BundleOptions bundle;
  bundle.signature = options.signature;
  if (options.out) bundle.out = *options.out;
  bundle.allow_simulated = options.allow_simulated;
  bundle.redact = !options.no_redact;
  bundle.with_output = options.with_output;
  bundle.redact_strings = options.redact;
  if (bundle.redact) bundle.of_machine = personal_strings_of_this_machine();
  bundle.programs = {proof_lines, programs_for};
  if (options.audience == "pytorch") bundle.further = issue_files;
  if (options.audience == "mlx") bundle.further = mlx_issue_files;
  return bundle;
}

nlohmann::ordered_json as_json(const std::vector<WrittenBundle>& bundles) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WrittenBundle& bundle : bundles) {
    nlohmann::ordered_json places = nlohmann::ordered_json::array();
    for (const LooksPersonal& place : bundle.looks_personal) {
      places.push_back({{"file", place.file}, {"line", place.line}, {"what", place.what}});
    }
    list.push_back({{"signature", bundle.signature},
                    {"folder", bundle.folder.string()},
                    {"archive", bundle.archive.string()},
                    {"files", bundle.files},
                    {"unverified", bundle.unverified},
                    {"looks_personal", std::move(places)}});
  }
  return {{"mpsprobe_feedback", 1}, {"bundles", std::move(list)}};
}

void say_looks_personal(const WrittenBundle& bundle) {
  if (bundle.looks_personal.empty()) {
    say(stdout, "    nothing in it looks personal any more\n");
    return;
  }
  say(stdout, "    still looks personal: look at {} before you send it\n",
      bundle.looks_personal.size() == 1 ? "this place" : "these places");
  for (size_t i = 0; i < bundle.looks_personal.size() && i < kMostPlacesShown; ++i) {
    const LooksPersonal& place = bundle.looks_personal[i];
    say(stdout, "        {}:{}: {}\n", shortened(printable(place.file), 120), place.line,
        place.what);
  }
  if (bundle.looks_personal.size() > kMostPlacesShown) {
    say(stdout, "        and {} more: --json lists them\n",
        bundle.looks_personal.size() - kMostPlacesShown);
  }
}

void say_bundles(const std::vector<WrittenBundle>& bundles, const FeedbackOptions& options) {
  for (const WrittenBundle& bundle : bundles) {
    say(stdout, "{}\n    folder:  {}\n    archive: {}\n",
        shortened(printable(bundle.signature), 200), printable(bundle.folder.string()),
        printable(bundle.archive.string()));
    for (const std::string& line : bundle.unverified) {
      say(stdout, "    not verified: {}\n", shortened(printable(line), 300));
    }
    if (!options.no_redact) say_looks_personal(bundle);
  }
  if (options.no_redact) {
    say(stdout, "NOT REDACTED: personal data are in it. Do not publish it.\n");
  } else if (!bundles.empty()) {
    say(stdout,
        "personal data were replaced {} times in the run{}; redactions.md says what. Look at the "
        "files before you send them.\n",
        bundles.front().replaced,
        bundles.front().lines_left_out == 0
            ? ""
            : fmt::format(", and {} of output left out (--with-output takes them in)",
                          counted(bundles.front().lines_left_out, "lines")));
  }
}

}  // namespace

void add_feedback_options(CLI::App& app, FeedbackOptions& options) {
  app.add_option("report", options.report, "report.json of a run, or its folder")
      ->required()
      ->type_name("report.json|FOLDER");
  app.add_option("--signature", options.signature,
                 "only this failure: its title, or a part that no other has [all of the run]")
      ->type_name("TITLE");
  app.add_option("--out", options.out, "folder in which bundles are made [that of the run]")
      ->type_name("DIR");
  app.add_option("--for", options.audience,
                 "whom it is for: pytorch and mlx add the text for their tracker")
      ->check(one_of({"apple", "pytorch", "mlx"}))
      ->capture_default_str();
  app.add_flag("--allow-simulated", options.allow_simulated,
               "make one of simulated evidence, marked as such in every file");
  app.add_option("--redact", options.redact,
                 "a text that must not be in it, besides those known; may be repeated")
      ->type_name("STRING");
  app.add_flag("--with-output", options.with_output,
               "all that processes printed, as far as patterns of personal data leave it; without "
               "this, only lines that mpsprobe knows");
  app.add_flag("--no-redact", options.no_redact,
               "leave personal data in: for yourself, not for others");
  app.add_flag("--json", options.json, "print what was written as JSON");
}

int feedback_command_line(const FeedbackOptions& options) {
  if (options.no_redact && !options.redact.empty()) {
    throw InputError("--redact", "makes no sense with --no-redact", "Leave one of them out");
  }
  if (options.no_redact && options.audience != "apple") {
    throw InputError("--no-redact", "is not for a public tracker (--for " + options.audience + ")",
                     "Leave one of them out");
  }
  const std::vector<WrittenBundle> bundles = write_bundles(options.report, bundle_options(options));
  if (options.json) {
    say(stdout, "{}", json_text(as_json(bundles)));
  } else {
    say_bundles(bundles, options);
  }
  return kExitOk;
}

}  // namespace mpsprobe
