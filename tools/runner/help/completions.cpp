#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/runner/help/help.h"

namespace mpsprobe {
namespace {

// The first sentence, without what a shell would act on.
std::string brief(const std::string& description) {
  std::string text = description.substr(0, description.find("; "));
  text = text.substr(0, text.find(" ["));
  std::string plain;
  for (char c : text) {
    if (c == '\'' || c == '`' || c == '"' || c == '\\') continue;
    plain += c == '[' ? '(' : c == ']' ? ')' : c;
  }
  return plain;
}

std::string names_listed(std::string_view program, const std::string& list) {
  return fmt::format("{} list {} 2>/dev/null | sed -n \"s/^\\\\([^ #][^ ]*\\\\).*/\\\\1/p\"",
                     program, list);
}

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    if (!option.positional) names.push_back(option.name);
  }
  return names;
}

std::string bash_values(const OptionInfo& option) {
  if (!option.values.empty()) return fmt::format("\"{}\"", fmt::join(option.values, " "));
  return fmt::format("\"$({})\"", names_listed("\"$1\"", option.list));
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names += command.name + " ";
    std::string values;
    std::string places;
    std::string first;  // of the positional
    for (const OptionInfo& option : command.options) {
      const bool known = !option.values.empty() || !option.list.empty();
      if (option.positional) {
        if (known) first = bash_values(option);
      } else if (known) {
        values += fmt::format("        {}) _mpsprobe_list {}{}; return ;;\n", option.name,
                              bash_values(option), option.names_file ? " files" : "");
      } else if (!option.type.empty() && !option.names_file) {
        values += fmt::format("        {}) return ;;\n", option.name);
      }
    }
    cases += fmt::format(
        "    {})\n      case $before in\n{}      esac\n"
        "      case $word in\n"
        "        -*) _mpsprobe_list \"{}\" ;;\n"
        "        *) {} ;;\n"
        "      esac ;;\n",
        command.name, values, fmt::join(option_names(command), " "),
        first.empty() ? "COMPREPLY=($(compgen -f -- \"$word\"))" : "_mpsprobe_list " + first);
  }
  return "# Completion of mpsprobe for bash. Made by `mpsprobe completions bash`; load it with\n"
         "#   eval \"$(mpsprobe completions bash)\"\n"
         "_mpsprobe_list() {\n"
         "  local front= last=$word\n"
         "  case $word in *,*) front=${word%,*}, last=${word##*,} ;; esac\n"
         "  COMPREPLY=($(compgen -P \"$front\" -W \"$1\" -- \"$last\"))\n"
         "  [ \"$2\" != files ] || COMPREPLY+=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "_mpsprobe() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    _mpsprobe_list \"" +
         names +
         "help --help --version\"\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases + "    help) _mpsprobe_list \"" + names +
         "\" ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _mpsprobe mpsprobe\n";
}

/// With the colons before it; nothing for a flag.
std::string zsh_value(const OptionInfo& option) {
  if (option.type.empty() && !option.positional) return "";
  const std::string_view colons = option.optional_value ? "::" : ":";
  if (!option.values.empty()) {
    const char* form = option.type == "A,B" ? "{}value:_values -s , value {}" : "{}value:({})";
    return fmt::format(fmt::runtime(form), colons, fmt::join(option.values, " "));
  }
  if (!option.list.empty()) {
    return fmt::format("{}value: _mpsprobe_names {}{}", colons, option.list,
                       option.names_file ? " files" : "");
  }
  return fmt::format(fmt::runtime(option.names_file ? "{}file:_files" : "{}value: "), colons);
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, brief(command.description));
    std::string options;
    for (const OptionInfo& option : command.options) {
      if (option.positional) {
        options += fmt::format(" \\\n        '1{}'", zsh_value(option));
      } else {
        options += fmt::format(" \\\n        '{}{}[{}]{}'", option.repeated ? "*" : "", option.name,
                               brief(option.description), zsh_value(option));
      }
    }
    cases += fmt::format("      {}) _arguments{} ;;\n", command.name, options);
  }
  return "#compdef mpsprobe\n"
         "# Completion of mpsprobe for zsh. Made by `mpsprobe completions zsh`; put it into a "
         "folder\n"
         "# of $fpath as _mpsprobe.\n"
         "_mpsprobe_names() {\n"
         "  compadd -- ${(f)\"$(mpsprobe list $1 2>/dev/null | "
         "sed -n 's/^\\([^ #][^ ]*\\).*/\\1/p')\"}\n"
         "  [ \"$2\" != files ] || _files\n"
         "}\n"
         "_mpsprobe() {\n"
         "  local state line\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  _arguments -C '--help[show help]' '--version[show the version]' '1:command:->command' "
         "'*::argument:->arguments'\n"
         "  case $state in\n"
         "    command) _describe command commands ;;\n"
         "    arguments)\n"
         "      case $line[1] in\n" +
         cases +
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _mpsprobe ]; then _mpsprobe \"$@\"; else compdef _mpsprobe "
         "mpsprobe; fi\n";
}

std::string fish_values(const OptionInfo& option) {
  std::string files = option.names_file ? "" : " -f";
  if (!option.values.empty())
    return fmt::format("{} -a '{}'", files, fmt::join(option.values, " "));
  if (!option.list.empty()) {
    return fmt::format("{} -a '({})'", files, names_listed("mpsprobe", option.list));
  }
  return files;
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string text =
      "# Completion of mpsprobe for fish. Made by `mpsprobe completions fish`; put it into\n"
      "# ~/.config/fish/completions/mpsprobe.fish.\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c mpsprobe -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command.name, brief(command.description));
  }
  for (const CommandInfo& command : commands) {
    const std::string begin =
        fmt::format("complete -c mpsprobe -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionInfo& option : command.options) {
      if (option.positional) {
        text += begin + fish_values(option) + "\n";
        continue;
      }
      text += fmt::format("{} -l {}", begin, option.name.substr(2));
      // With -r also where the value may be left out: else fish offers none behind a space.
      if (!option.type.empty()) text += " -r" + fish_values(option);
      text += fmt::format(" -d '{}'\n", brief(option.description));
    }
  }
  return text;
}

}  // namespace

std::string completions(std::string_view shell, const std::vector<CommandInfo>& commands) {
  if (shell == "bash") return bash(commands);
  return shell == "zsh" ? zsh(commands) : fish(commands);
}

}  // namespace mpsprobe
