#include <fmt/format.h>

#include <map>

#include "reports/words/counted.h"
#include "reports/words/safe_text.h"
#include "reproducers/bundle/pages/bundle_texts.h"
#include "reproducers/bundle/pages/bundle_words.h"

namespace mpsprobe {
namespace {

const std::map<std::string, const char*>& meanings() {
  static const std::map<std::string, const char*> table{
      {"title.txt", "the title, at most 255 characters"},
      {"description.txt", "the description, at most 4,096 characters; two headings are yours"},
      {"form.md", "suggested values for the form's pop-ups"},
      {"issue.md", "the text for PyTorch's tracker, to be pasted: it takes no attachments"},
      {"issue-title.txt", "the title of that issue"},
      {"rate.md", "failed / total with interval, by cell and threads"},
      {"rate.json", "the same for programs"},
      {"boundary.md", "from how many threads or processes on it fails"},
      {"layers.md", "what is known with and without PyTorch, and with other builds"},
      {"minimum.md", "which conditions are needed, and how that was found"},
      {"minimum.json", "the same for programs"},
      {"programs.md", "the programs: how to build and run them, and how they were tried"},
      {"system.json", "system and hardware, without names or numbers of this one machine"},
      {"provenance.json", "which libraries and devices the processes really had"},
      {"trials.ndjson", "the raw trials, one a line; those that passed as well"},
      {"redactions.md", "what was taken out"},
      {"bundle.json", "what `mpsprobe verify` reads"},
      {"MANIFEST.sha256", "hashes of all other files: `shasum -a 256 -c MANIFEST.sha256`"}};
  return table;
}

std::string lines_left_out(const Redactor& redactor) {
  std::string text = "\n## Lines of output\n\n";
  if (!redactor.leaves_lines_out()) {
    return text +
           "All that processes printed is in here (`--with-output`), without what patterns of "
           "personal data found in it. Look through it before you hand it on.\n";
  }
  text +=
      "Of what processes printed or threw, only lines are in here that mpsprobe knows: those that "
      "its rules read, those of stacks, and those of technical words alone. To have the others as "
      "well, make the bundle again with `mpsprobe feedback --with-output`.\n\n";
  for (const auto& [part, lines] : redactor.lines_left_out()) {
    text += fmt::format("- {}: {} left out\n", escaped(part, 80), counted(lines, "lines"));
  }
  if (redactor.lines_left_out().empty()) text += "- none was left out\n";
  return text;
}

}  // namespace

std::string readme_markdown(const BundleFinding& finding, const std::vector<BundleFile>& files,
                            bool redacted) {
  std::string text = finding.watermark.empty() ? "" : finding.watermark + "\n\n";
  if (!redacted) {
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
  text += fmt::format("\n# {}\n\n{}\n\n", escaped(finding.group->title, 300),
                      escaped(count_in_words(finding.smallest()), 300));
  text +=
      "It claims only what the trials in it measured, on one machine.\n\n"
      "| file | what is in it |\n|---|---|\n";
  std::map<std::string, size_t> folders;
  for (const BundleFile& file : files) {
    const size_t slash = file.path.find('/');
    if (slash != std::string::npos) {
      ++folders[file.path.substr(0, slash + 1)];
      continue;
    }
    if (file.path == "README.md") continue;
    const auto meaning = meanings().find(file.path);
    text += fmt::format("| {} | {} |\n", code_span(file.path),
                        meaning == meanings().end() ? "" : meaning->second);
  }
  for (const auto& [folder, count] : folders) {
    text += fmt::format("| {} | {} |\n", code_span(folder), counted(count, "files"));
  }
  text +=
      "\n## To file it\n\n"
      "1. Read title.txt and description.txt, and fill in the headings that are marked as yours.\n"
      "2. Look through redactions.md, and at the files themselves: you hand them on, not "
      "mpsprobe.\n"
      "3. Attach the archive that lies beside this folder.\n"
      "4. Write the number that you are given into a file filing.txt in this folder: `mpsprobe "
      "list "
      "--filed` shows it, and `mpsprobe verify` runs the cells again on a later system.\n\n"
      "## If a sysdiagnose is asked for\n\n"
      "It is not in here, and mpsprobe never takes one: it holds logs, names and files of the "
      "whole "
      "machine. Run `sudo sysdiagnose` soon after the failure, look at what it collected, and "
      "attach "
      "it yourself, to Feedback Assistant alone and never to a public issue.\n";
  return text;
}

std::string redactions_markdown(const BundleFinding& finding, const Redactor& redactor,
                                const PersonalStrings& strings) {
  std::string text = finding.watermark.empty() ? "" : finding.watermark + "\n\n";
  text += "# What was taken out\n\n";
  if (!redactor.enabled()) {
    return text + "NOTHING: it was made with --no-redact. Personal data are in here.\n";
  }
  text +=
      "Counted over the whole run. The texts themselves are not shown. In their place stand `~`, "
      "`<user>`, `<name>`, `<host>`, `<serial>`, `<id>`, `<mail>`, `<file>`, `<redacted>`, and "
      "`<...>` for what is not known to name nobody.\n\n"
      "| in | kind | how often |\n|---|---|---|\n";
  for (const auto& [where, count] : redactor.replaced()) {
    text += fmt::format("| {} | {} | {} |\n", escaped(where.first, 80), escaped(where.second, 80),
                        count);
  }
  if (redactor.replaced().empty()) text += "| | nothing | 0 |\n";
  std::map<std::string, int> kinds;
  for (const PersonalString& known : strings.all()) ++kinds[std::string(name_of(known.kind))];
  text += "\nKnown strings, in each form in which they are written, that were looked for: ";
  std::string list;
  for (const auto& [kind, count] : kinds) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, kind);
  }
  text += (list.empty() ? "none" : list) + ".\n";
  if (strings.left_out() > 0) {
    text += fmt::format(
        "\n{} more are too short, or words that this bundle is written in: they were replaced in "
        "paths and behind telling keys, and nowhere else.\n",
        strings.left_out());
  }
  text += lines_left_out(redactor);
  text +=
      "\n## Left out as a whole\n\nOf structured data only what is known to be harmless is taken "
      "over. These keys were there and are not:\n\n";
  for (const auto& [part, keys] : redactor.left_out()) {
    text += fmt::format("- {}: ", escaped(part, 80));
    bool first = true;
    for (const std::string& key : keys) {
      text += (first ? "" : ", ") + code_span(key, 90);
      first = false;
    }
    text += '\n';
  }
  if (redactor.left_out().empty()) text += "- none\n";
  return text;
}

}  // namespace mpsprobe
