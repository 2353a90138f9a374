#include "reproducers/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/crash_report/report_file.h"
#include "harness/input/input_error.h"
#include "harness/input/json_text.h"
#include "harness/wire/ascii.h"
#include "reports/words/safe_text.h"
#include "reports/writers/forms.h"
#include "reproducers/bundle/bundle_place.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"
#include "reproducers/bundle/redaction/redact_journal.h"
#include "reproducers/minimise/slug.h"

namespace mpsprobe {
namespace {

namespace fs = std::filesystem;

/// Programs and texts of others carry the mark in their first lines, whoever wrote them.
std::string marked(const std::string& name, std::string text, const std::string& watermark) {
  // An emitted program has it below its cell.
  size_t head = 0;
  for (int line = 0; line < 4 && head != std::string::npos; ++line)
    head = text.find('\n', head + 1);
  if (watermark.empty() || text.substr(0, head).find("SIMULATED") != std::string::npos) {
    return text;
  }
  if (name.ends_with(".md")) return watermark + "\n\n" + text;
  const bool hash = name.ends_with(".py") || name.ends_with(".sh") || name.ends_with(".txt") ||
                    name.ends_with(".cmake");
  return (hash ? "# " : "// ") + watermark + "\n" + text;
}

/// Which signatures are asked for, as (title measured, title here).
using Titles = std::vector<std::pair<std::string, std::string>>;

std::string list_of(const Titles& titles) {
  std::string list;
  for (const auto& [raw, title] : titles) list += "\n    " + shortened(printable(raw), 200);
  return list;
}

Titles wanted_titles(const Evidence& evidence, const std::optional<std::string>& wanted,
                     const fs::path& folder) {
  Titles all;
  for (const SignatureGroup& group : evidence.analysis.signatures) {
    for (const auto& [raw, title] : evidence.titles) {
      if (title == group.title) {
        all.emplace_back(raw, title);
        break;
      }
    }
  }
  const std::string place = printable(folder.string());
  if (all.empty()) {
    throw InputError(place, "holds no failure, so there is nothing to report",
                     "Run more trials, or name another run");
  }
  if (!wanted.has_value()) return all;
  Titles found;
  for (const auto& [raw, title] : evidence.titles) {
    if (raw == *wanted) return {{raw, title}};
    if (raw.find(*wanted) != std::string::npos && !wanted->empty()) found.emplace_back(raw, title);
  }
  if (found.size() == 1) return found;
  throw InputError("--signature " + shortened(printable(*wanted), 120),
                   found.empty()
                       ? "no failure of this run has it"
                       : fmt::format("{} of its signatures have it in them", found.size()),
                   "The run has:" + list_of(all));
}

void refuse_simulated(const BundleFinding& finding, const BundleOptions& options) {
  // PyTorch's own code is PyTorch's, whatever it ran on.
  const bool own = options.for_pytorch && !finding.evidence->analysis.own_mps_code.empty();
  if (!finding.simulated || options.allow_simulated || own) return;
  throw InputError(shortened(printable(finding.raw_title), 120),
                   "was measured on a simulated device: it is no evidence about Apple's software, "
                   "and nobody is to be sent it",
                   "Run the cell on a Mac (--backend mps or metal), or make a marked example with "
                   "--allow-simulated");
}

void check_given(const std::vector<std::string>& strings) {
  for (const std::string& text : strings) {
    const auto is_mark = [](char c) { return !is_word_byte(c); };
    if (text.size() >= 3 && !std::all_of(text.begin(), text.end(), is_mark)) continue;
    throw InputError("--redact " + shortened(printable(text), 60), "is too short",
                     "Give a longer text that stands around it, of at least 3 bytes");
  }
}

/// What a bundle says itself cannot be taken out of it.
void refuse_given(const std::vector<BundleFile>& files, const std::vector<std::string>& strings) {
  const auto same = [](char a, char b) { return ascii::to_lower(a) == ascii::to_lower(b); };
  for (const std::string& text : strings) {
    for (const BundleFile& file : files) {
      if (std::search(file.bytes.begin(), file.bytes.end(), text.begin(), text.end(), same) ==
          file.bytes.end())
        continue;
      throw InputError("--redact " + shortened(printable(text), 60),
                       "is a word that every bundle is written in: " + file.path,
                       "Give a longer text that stands around it");
    }
  }
}

/// The code that the user has seen and lets go. Its operations may be named from then on.
OwnPrograms agreed_code(const fs::path& folder, const BundleOptions& options, Redactor& redactor) {
  if (!options.show_code) return {};
  OwnPrograms code = read_own_code(folder);
  if (code.empty()) {
    throw InputError(
        "--with-code", "the run's folder has no program of your own Python code",
        "Run `mpsprobe repro` of a run of it first, or leave it out: a command of your own "
        "is never packed");
  }
  std::vector<EmittedFile> files;
  for (const auto& [title, program] : code) {
    files.insert(files.end(), program.files.begin(), program.files.end());
  }
  if (!options.show_code(files)) {
    throw InputError("--with-code", "was not agreed to, so nothing was packed",
                     "Answer yes, or leave it out: then no code of yours is packed");
  }
  for (const auto& [title, program] : code) redactor.own().add(program.operation);
  return code;
}

/// One for each signature, but for those of which another one tells.
std::vector<BundleFinding> findings_of(const Evidence& evidence, const Titles& titles) {
  const FailureGroups groups = find_groups(evidence.analysis);
  std::vector<BundleFinding> all;
  for (const SignatureGroup& group : evidence.analysis.signatures) {
    const auto named = std::find_if(titles.begin(), titles.end(), [&group](const auto& each) {
      return each.second == group.title;
    });
    if (named == titles.end()) continue;
    all.push_back(find(evidence, group, named->first));
    all.back().with = seen_with(evidence.analysis, groups, group);
  }
  std::stable_sort(all.begin(), all.end(), [&](const BundleFinding& a, const BundleFinding& b) {
    const auto rank = [&](const BundleFinding& finding) {
      return std::pair(has_reproduction(evidence, finding.raw_title), finding.with.size());
    };
    return rank(a) > rank(b);
  });
  std::vector<BundleFinding> taken;
  for (BundleFinding& finding : all) {
    if (std::none_of(taken.begin(), taken.end(), [&finding](const BundleFinding& other) {
          return std::find(other.with.begin(), other.with.end(), finding.group) != other.with.end();
        })) {
      taken.push_back(std::move(finding));
    }
  }
  return taken;
}

/// Files that tell of the others come last.
std::vector<BundleFile> all_files(const BundleFinding& finding, const BundleOptions& options,
                                  const Redactor& redactor) {
  nlohmann::ordered_json report =
      report_json(finding.evidence->journal, finding.evidence->analysis);
  if (!finding.watermark.empty()) report["watermark"] = finding.watermark;
  std::vector<BundleFile> files{
      {"issue.md", options.issue ? options.issue(finding) : apple_issue(finding)},
      {"report.json", json_document(report)},
      {"trials.ndjson", trials_ndjson(finding)},
      {kBundleRecordFile, bundle_record_json(record_of(finding))}};
  for (const Emission& program : finding.reproduction.programs) {
    for (const EmittedFile& file : program.files) {
      files.push_back({fmt::format("programs/{}/{}", name_of(program.kind), file.name),
                       marked(file.name, file.text, finding.watermark)});
    }
  }
  files.push_back({"README.md", readme_markdown(finding, files, redactor)});
  refuse_given(files, options.redact_strings);
  files.push_back({"MANIFEST.sha256", manifest_of(files, finding.watermark)});
  return files;
}

WrittenBundle write_one(const BundleFinding& finding, const BundleOptions& options,
                        const Redactor& redactor) {
  const std::string name =
      fmt::format("{}feedback-{}{}", finding.simulated ? "SIMULATED-" : "",
                  slug(finding.group->title), redactor.enabled() ? "" : "-not-redacted");
  const fs::path parent = options.out.empty() ? finding.evidence->folder : options.out;
  const std::vector<BundleFile> files = all_files(finding, options, redactor);
  size_t bytes = 0;
  for (const BundleFile& file : files) bytes += file.bytes.size();
  if (bytes > kMostBundle) {
    throw InputError(name, fmt::format("would be {} bytes, more than {}", bytes, kMostBundle),
                     "Make it from a run of fewer cells");
  }
  BundlePlace place(parent, name);
  place.write(files);
  place.put(zip_archive(name, files));
  WrittenBundle written{.signature = finding.group->title,
                        .folder = place.folder(),
                        .archive = place.archive(),
                        .files = files.size(),
                        .unverified = unverified(finding),
                        .lines_left_out = redactor.lines_left_out(),
                        .texts_left_out = redactor.texts_left_out()};
  for (const SignatureGroup* other : finding.with) written.others.push_back(other->title);
  return written;
}

}  // namespace

std::string manifest_of(std::vector<BundleFile> files, const std::string& watermark) {
  std::sort(files.begin(), files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.path < b.path; });
  std::string text = watermark.empty() ? "" : "# " + watermark + "\n";
  for (const BundleFile& file : files) text += sha256(file.bytes) + "  " + file.path + "\n";
  return text;
}

std::vector<WrittenBundle> write_bundles(const fs::path& report, const BundleOptions& options) {
  check_given(options.redact_strings);
  const fs::path folder = folder_of_run(report);
  Redactor redactor(options.redact, options.redact_strings);
  if (options.redact) {
    for (const fs::path& file : options.own) add_own(file, redactor);
  }
  const OwnPrograms code = agreed_code(folder, options, redactor);
  const Evidence evidence = read_evidence(folder, redactor, options.show_output != nullptr);
  if (options.show_output && !options.show_output(evidence.output)) {
    throw InputError("--with-output", "was not agreed to, so nothing was packed",
                     "Answer yes, or leave it out: then only what is the software's is packed");
  }
  std::vector<WrittenBundle> written;
  std::vector<BundleFinding> findings =
      findings_of(evidence, wanted_titles(evidence, options.signature, folder));
  for (const BundleFinding& finding : findings) refuse_simulated(finding, options);
  for (BundleFinding& finding : findings) {
    finding.reproduction = read_reproduction(finding, options.programs, code, redactor);
  }
  for (const BundleFinding& finding : findings) {
    written.push_back(write_one(finding, options, redactor));
  }
  return written;
}

}  // namespace mpsprobe
