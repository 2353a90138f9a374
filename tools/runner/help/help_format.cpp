#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>

#include "reports/words/safe_text.h"
#include "tools/runner/help/help.h"

namespace mpsprobe {
namespace {

class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(size_t width) : width_(width) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    // CLI11 leaves two empty lines between groups, and spaces at ends.
    std::string text;
    bool was_empty = false;
    std::istringstream lines(Formatter::make_help(app, name, mode));
    for (std::string line; std::getline(lines, line);) {
      line.erase(line.find_last_not_of(' ') + 1);
      if (line.empty() && was_empty) continue;
      was_empty = line.empty();
      text += line + "\n";
    }
    return text;
  }

  std::string make_description(const CLI::App* app) const override {
    return paragraphs(app->get_description()) + "\n";
  }

  std::string make_footer(const CLI::App* app) const override {
    return paragraphs(app->get_footer());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry("  " + command->get_name(), command->get_description());
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = "  " + make_option_name(option, is_positional);
    if (!is_positional && option->get_type_size() != 0) name += " " + option->get_type_name();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) name += " ...";
    std::string description = option->get_description();
    if (!option->get_default_str().empty()) {
      description += fmt::format(" [{}]", option->get_default_str());
    }
    return entry(name, description);
  }

 private:
  static constexpr size_t kNames = 26;

  std::string entry(const std::string& name, const std::string& description) const {
    const size_t width = std::max(width_, kNames + 20) - kNames;
    std::string text = name;
    bool first = name.size() + 1 < kNames;
    if (!first) text += '\n';
    for (const std::string& line : wrapped(description, width, 0)) {
      text += std::string(first ? kNames - name.size() : kNames, ' ') + line + "\n";
      first = false;
    }
    return text;
  }

  // Lines that are indented, as examples are, stay as they are where they fit.
  std::string paragraphs(const std::string& description) const {
    std::string text;
    std::istringstream lines(description);
    for (std::string line; std::getline(lines, line);) {
      for (const std::string& piece : wrapped(line, width_, line.starts_with("  ") ? 6 : 0)) {
        text += piece + "\n";
      }
    }
    return text;
  }

  size_t width_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format(size_t width) {
  return std::make_shared<HelpFormat>(width);
}

}  // namespace mpsprobe
