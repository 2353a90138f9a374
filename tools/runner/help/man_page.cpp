#include <fmt/format.h>

#include <sstream>

#include "tools/runner/help/help.h"

namespace mpsprobe {
namespace {

// What man would take for a request, an escape or a hyphen to break at, as it is.
std::string roff(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_begins = c == '\n';
  }
  return result;
}

// Paragraphs; lines that are indented are examples and stay as they are.
std::string body(std::string_view text) {
  std::string result;
  std::istringstream lines{std::string(text)};
  bool as_it_is = false;
  const auto keep = [&](bool wanted) {
    if (wanted != as_it_is) result += wanted ? ".nf\n" : ".fi\n";
    as_it_is = wanted;
  };
  for (std::string line; std::getline(lines, line);) {
    keep(line.starts_with("  "));
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  keep(false);
  return result;
}

std::string option_text(const OptionInfo& option) {
  std::string name = "\\fB" + roff(option.name) + "\\fR";
  if (option.positional) name = "\\fI" + roff(option.name) + "\\fR";
  if (!option.positional && !option.type.empty()) name += " \\fI" + roff(option.type) + "\\fR";
  if (option.repeated) name += " ...";
  return ".TP\n" + name + "\n" + roff(option.description) + "\n";
}

}  // namespace

std::string man_page(std::string_view description, std::string_view exit_codes,
                     const std::vector<CommandInfo>& commands) {
  std::string text = fmt::format(
      ".TH MPSPROBE 1 \"\" \"mpsprobe {}\"\n.SH NAME\nmpsprobe \\- find where a GPU software stack "
      "stops being thread\\-safe\n.SH SYNOPSIS\n\\fBmpsprobe\\fR \\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}",
      roff(MPSPROBE_VERSION), body(description));
  for (const CommandInfo& command : commands) {
    text += fmt::format(".SH \"mpsprobe {}\"\n{}", roff(command.name), body(command.description));
    std::string group;
    for (const OptionInfo& option : command.options) {
      if (option.group != group) {
        group = option.group;
        if (!group.empty() && group != "Options") text += fmt::format(".SS \"{}\"\n", roff(group));
      }
      text += option_text(option);
    }
    // The codes that all share stand once, below.
    std::string footer = command.footer;
    if (const size_t at = footer.find(exit_codes); at != std::string::npos) footer.erase(at);
    if (!footer.empty()) text += ".PP\n" + body(footer);
  }
  return text + ".SH \"EXIT STATUS\"\n" + body(exit_codes);
}

}  // namespace mpsprobe
