#include <CLI/CLI.hpp>

#include "tools/runner/help/help.h"
#include "tools/runner/option_check.h"

namespace mpsprobe {
namespace {

// From "... `mpsprobe list matrices` ...".
std::string list_named_in(const std::string& description) {
  const std::string mark = "`mpsprobe list ";
  const size_t at = description.find(mark);
  if (at == std::string::npos) return "";
  const size_t begin = at + mark.size();
  return description.substr(begin, description.find('`', begin) - begin);
}

bool is_place(const std::string& type) {
  for (const char* word :
       {"FILE", "DIR", "FOLDER", "PATH", "BUNDLE", "report.json", "CODE", "NODE"}) {
    if (type.find(word) != std::string::npos) return true;
  }
  return false;
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  info.positional = option.get_positional() && option.get_lnames().empty();
  info.name = info.positional ? option.get_name(true) : "--" + option.get_lnames().front();
  if (option.get_type_size() != 0) info.type = option.get_type_name();
  info.description = option.get_description();
  info.group = option.get_group();
  info.values = names_allowed(option);
  info.list = list_named_in(info.description);
  info.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  info.names_file = is_place(info.type);
  return info;
}

}  // namespace

std::vector<CommandInfo> commands_of(const CLI::App& program) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* command : program.get_subcommands({})) {
    CommandInfo info;
    info.name = command->get_name();
    info.description = command->get_description();
    info.footer = command->get_footer();
    for (const CLI::Option* option : command->get_options()) {
      info.options.push_back(info_of(*option));
    }
    commands.push_back(std::move(info));
  }
  return commands;
}

}  // namespace mpsprobe
