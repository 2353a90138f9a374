#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/provenance/executable.h"
#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/bundle.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/bundle/redaction/redactor.h"
#include "reproducers/tracker/issue_text.h"
#include "tools/runner/command.h"
#include "tools/runner/data_folder.h"
#include "tools/runner/exit_code.h"
#include "tools/runner/option_check.h"
#include "tools/runner/say.h"

namespace mpsprobe {
namespace {

/// What `mpsprobe feedback` was asked for, as given.
struct FeedbackOptions {
  std::string report;  ///< a report.json, or the folder of a run
  std::optional<std::string> signature;
  std::optional<std::string> out;
  std::string audience;  ///< --for; empty: by the failure's backend
  bool allow_simulated = false;
  bool no_redact = false;
  bool with_output = false;
  bool with_code = false;
  std::vector<std::string> redact;
  bool json = false;
};

/// The trackers that take a failure of this backend, the usual one first.
std::vector<std::string_view> trackers_of(const BundleFinding& finding) {
  switch (finding.reproduction.cell.backend) {
    case Backend::mlx:
      return {"mlx", "generic"};
    case Backend::metal:
      return {"apple"};
    case Backend::cuda:
    case Backend::cpu:
      // Own code that loaded no LibTorch is of whatever it calls.
      if (finding.arm().name.empty() && !finding.arm().interpreter.empty()) return {"generic"};
      return {"pytorch", "generic"};
    case Backend::command:  // what it calls is the user's to say
      return {"generic", "pytorch", "mlx", "apple"};
    default:
      return {"apple", "pytorch", "generic"};
  }
}

/// Which of the programs stands in a tracker's text: the first that was shown to fail here, else
/// the first of them. nullptr where there is none.
const Emission* program_for(const BundleFinding& finding, std::initializer_list<Kind> kinds) {
  const Emission* first = nullptr;
  for (const Kind kind : kinds) {
    for (const Emission& program : finding.reproduction.programs) {
      if (program.kind != kind || program.files.empty()) continue;
      if (shown_to_fail(finding, kind)) return &program;
      if (first == nullptr) first = &program;
    }
  }
  return first;
}

/// How somebody who has only the issue gets the release, and runs the program.
std::string steps_of(const BundleFinding& finding, const Emission& program) {
  const Arm& arm = finding.arm();
  std::string lines;
  if (!arm.version.empty() && finding.reproduction.cell.backend == Backend::mlx) {
    const bool mac = finding.machine("os").starts_with("macOS");
    const bool cpu = std::any_of(arm.devices.begin(), arm.devices.end(), [](const auto& device) {
      return device.find("CPU") != std::string::npos;
    });
    lines = fmt::format("python3 -m pip install 'mlx{}=={}'\n",
                        mac   ? ""
                        : cpu ? "[cpu]"
                              : "[cuda]",
                        shortened(printable(arm.version), 60));
  }
  if (!program.build.empty()) lines += program.build + "\n";
  return lines + program.run;
}

IssueFacts issue_facts(const BundleFinding& finding, const Emission* program) {
  const Reproduction& known = finding.reproduction;
  IssueFacts facts;
  facts.analysis = &finding.evidence->analysis;
  facts.signature = finding.group->title;
  facts.cell = known.cell;
  facts.minimum = known.minimum.has_value() ? &*known.minimum : nullptr;
  facts.command = rerun_command(finding);
  facts.others = others_in_words(finding);
  facts.why_no_python = needed_code_in_words(finding);
  for (const Emission& each : known.programs) {
    if (each.kind == Kind::python && !each.why_not.empty()) facts.why_no_python = each.why_not;
  }
  if (program == nullptr) return facts;
  facts.beside.assign(program->files.begin() + 1, program->files.end());
  facts.python = program->files.front().text;
  facts.not_expressed = program->not_expressed;
  facts.steps = steps_of(finding, *program);
  for (const Proof& proof : known.proofs) {
    if (proof.kind != program->kind || proof.arm != ProofArm::rate || proof.n == 0) continue;
    // An attempt of many rounds is no trial of the cell, which has one.
    const int rounds = proof.program.value_or(ProgramForm{}).rounds;
    const std::string each = rounds == 1 ? "" : fmt::format(" ({} rounds of threads)", rounds);
    facts.proof = fmt::format("One attempt{} failed in {} of {} here", each, proof.k, proof.n);
    if (facts.minimum != nullptr) {
      const Tally& cell = facts.minimum->reliability;
      facts.proof += fmt::format("; mpsprobe's own cell in {} of {}", cell.failures, cell.trials);
    }
    facts.proof += '.';
  }
  return facts;
}

std::string headed(const BundleFinding& finding, const IssueFacts& facts, const std::string& text) {
  return (finding.watermark.empty() ? "" : finding.watermark + "\n\n") +
         "Title: " + without_number(issue_title(facts)) + "\n\n" + text;
}

/// For whom it is, or whose backend it is. Refuses another stack's tracker.
std::string issue(const BundleFinding& finding, const std::string& audience) {
  const std::vector<std::string_view> takes = trackers_of(finding);
  const std::string_view tracker = audience.empty() ? takes.front() : audience;
  if (std::find(takes.begin(), takes.end(), tracker) == takes.end()) {
    throw InputError(
        fmt::format("--for {}", tracker),
        fmt::format("the failure is of the backend {}", name_of(finding.reproduction.cell.backend)),
        fmt::format("Say --for {}, or name another failure with --signature",
                    fmt::join(takes, " or --for ")));
  }
  if (tracker == "apple") return apple_issue(finding);
  if (tracker == "mlx") {
    const Emission* const program =
        program_for(finding, {Kind::mlx, Kind::mlx_python, Kind::python});
    const IssueFacts facts = issue_facts(finding, program);
    const std::string language =
        program != nullptr && program->kind == Kind::mlx ? "cpp" : "python";
    return headed(finding, facts, mlx_issue_text(facts, facts.python, language));
  }
  IssueFacts facts = issue_facts(finding, program_for(finding, {Kind::python}));
  facts.generic = tracker == "generic";
  return headed(finding, facts, issue_text(facts));
}

/// Shows texts, and asks whether they may be packed.
bool agreed(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) say(stderr, "{}\n", printable(text, Lines::keep));
  say(stderr,
      "\nAll of this goes into the bundle as it is. Whatever in it is yours, a recipient will "
      "read. Pack it? Type yes: ");
  std::string answer;
  return std::getline(std::cin, answer) && answer == "yes";
}

std::vector<std::filesystem::path> own_files() {
  std::vector<std::filesystem::path> files{own_executable()};
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(data_folder() / "matrices", error)) {
    files.push_back(file.path());
  }
  return files;
}

BundleOptions bundle_options(const FeedbackOptions& options) {
  BundleOptions bundle;
  bundle.signature = options.signature;
  if (options.out) bundle.out = *options.out;
  bundle.allow_simulated = options.allow_simulated;
  bundle.for_pytorch = options.audience == "pytorch";
  bundle.redact = !options.no_redact;
  bundle.redact_strings = options.redact;
  bundle.own = own_files();
  bundle.programs = data_folder() / "programs";
  if (options.with_output) bundle.show_output = agreed;
  if (options.with_code) {
    bundle.show_code = [](const std::vector<EmittedFile>& files) {
      std::vector<std::string> texts;
      for (const EmittedFile& file : files) texts.push_back(file.name + ":\n\n" + file.text);
      return agreed(texts);
    };
  }
  bundle.issue = [audience = options.audience](const BundleFinding& finding) {
    return issue(finding, audience);
  };
  return bundle;
}

nlohmann::ordered_json as_json(const std::vector<WrittenBundle>& bundles) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const WrittenBundle& bundle : bundles) {
    list.push_back({{"signature", bundle.signature},
                    {"others", bundle.others},
                    {"folder", bundle.folder.string()},
                    {"archive", bundle.archive.string()},
                    {"files", bundle.files},
                    {"unverified", bundle.unverified}});
  }
  return {{"mpsprobe_feedback", 1}, {"bundles", std::move(list)}};
}

void say_bundles(const std::vector<WrittenBundle>& bundles, const FeedbackOptions& options) {
  for (const WrittenBundle& bundle : bundles) {
    say(stdout, "{}\n    folder:  {}\n    archive: {}\n",
        shortened(printable(bundle.signature), 200), printable(bundle.folder.string()),
        printable(bundle.archive.string()));
    if (!bundle.others.empty()) {
      say(stdout, "    lists:   {} of the same operations or conditions\n",
          counted(bundle.others.size(), "other failures"));
    }
    for (const std::string& line : bundle.unverified) {
      say(stdout, "    not verified: {}\n", shortened(printable(line), 300));
    }
  }
  if (options.no_redact) {
    say(stdout, "NOT REDACTED: personal data are in it. Do not publish it.\n");
  } else if (!bundles.empty()) {
    say(stdout,
        "{} of output and {} of other texts were left out: no library of the run has them. Look at "
        "the files before you send them.\n",
        counted(bundles.front().lines_left_out, "lines"),
        counted(bundles.front().texts_left_out, "parts"));
  }
}

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
                 "whose tracker issue.md is for; generic: that of any other software "
                 "[apple; mlx of a failure of the backend mlx; generic of own code]")
      ->check(one_of({"apple", "pytorch", "mlx", "generic"}));
  app.add_flag("--allow-simulated", options.allow_simulated,
               "make one of simulated evidence, marked as such in every file");
  app.add_option("--redact", options.redact,
                 "a text that must not be in it, besides those known; may be repeated")
      ->type_name("STRING");
  app.add_flag("--with-output", options.with_output,
               "all that processes printed, as it is: shows it, and packs it where you type yes");
  app.add_flag("--with-code", options.with_code,
               "the file of your own Python function, with the program that `repro` made of it: "
               "shows both, and packs them where you type yes");
  app.add_flag("--no-redact", options.no_redact,
               "leave personal data in: for yourself, not for others");
  app.add_flag("--json", options.json, "print what was written as JSON");
}

/// Writes a folder and an archive for each signature of a run. Returns the exit code; throws
/// InputError (2), and whatever reading the run or writing the bundle may (3).
int feedback_command_line(const FeedbackOptions& options) {
  if (options.no_redact && !options.redact.empty()) {
    throw InputError("--redact", "makes no sense with --no-redact", "Leave one of them out");
  }
  if (options.no_redact && !options.audience.empty() && options.audience != "apple") {
    throw InputError("--no-redact", "is not for a public tracker (--for " + options.audience + ")",
                     "Leave one of them out");
  }
  const std::vector<WrittenBundle> bundles = write_bundles(options.report, bundle_options(options));
  if (options.json) {
    say(stdout, "{}", json_document(as_json(bundles)));
  } else {
    say_bundles(bundles, options);
  }
  return kExitOk;
}

}  // namespace

RunCommand add_feedback(CLI::App& app, const Called& /*called*/) {
  return bound(app, add_feedback_options, feedback_command_line);
}

}  // namespace mpsprobe
