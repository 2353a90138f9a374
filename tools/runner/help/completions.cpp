#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tools/runner/data_folder.h"
#include "tools/runner/help/help.h"
#include "tools/runner/machine_error.h"
#include "tools/runner/workers/workers.h"

namespace mpsprobe {
namespace {

// Each asks the program for what the last word may become, and adds files where it is told to.

constexpr std::string_view kBash =
    R"bash(# Completion of mpsprobe for bash. Made by `mpsprobe completions bash`; load it with
#   eval "$(mpsprobe completions bash)"
_mpsprobe() {
  local word meaning
  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    if [ "$word" = :files ]; then
      COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    else
      COMPREPLY+=("$word")
    fi
  done < <("$1" completions bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o filenames -F _mpsprobe mpsprobe
)bash";

constexpr std::string_view kZsh =
    R"(#compdef mpsprobe
# Completion of mpsprobe for zsh. Made by `mpsprobe completions zsh`; put it into a folder
# of $fpath as _mpsprobe.
_mpsprobe() {
  local line
  local -a answers
  for line in "${(@f)$($words[1] completions zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
    elif [[ -n $line ]]; then
      answers+=("${${line//:/\\:}/$'\t'/:}")
    fi
  done
  (( ! $#answers )) || _describe value answers
}
if [ "$funcstack[1]" = _mpsprobe ]; then _mpsprobe "$@"; else compdef _mpsprobe mpsprobe; fi
)";

constexpr std::string_view kFish =
    R"(# Completion of mpsprobe for fish. Made by `mpsprobe completions fish`; put it into
# ~/.config/fish/completions/mpsprobe.fish.
function __mpsprobe
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  for line in ($words[1] completions fish -- $words[2..-1] "$word" 2>/dev/null)
    if test $line = :files
      __fish_complete_path "$word"
    else
      echo $line
    end
  end
end
complete -c mpsprobe -f -a '(__mpsprobe)'
)";

/// What a word may become, with what it means.
struct Completion {
  std::string word;
  std::string meaning;
};
using Completions = std::vector<Completion>;

// The first sentence.
std::string brief(const std::string& description) {
  const std::string text = description.substr(0, description.find("; "));
  return text.substr(0, text.find(" ["));
}

/// The names that `mpsprobe list` shows.
std::vector<std::string> names_listed(const std::string& list) {
  if (list == "matrices") return matrix_names();
  if (list == "profiles") return profile_names();
  std::set<std::string> names;
  try {
    for (const auto& [name, info] : operations_of(find_workers({}))) names.insert(name);
  } catch (const MachineError&) {
    // A worker that does not answer has none.
  }
  return {names.begin(), names.end()};
}

void add_values(const OptionInfo& option, Completions& to) {
  const auto values = option.list.empty() ? option.values : names_listed(option.list);
  for (const std::string& value : values) to.push_back({value, ""});
}

Completions completions_in(const CommandInfo& command, const std::vector<std::string>& words,
                           bool& files) {
  Completions all;
  for (const OptionInfo& option : command.options) {
    const bool is_value_of = words.size() > 1 && words[words.size() - 2] == option.name &&
                             !option.type.empty() && !option.positional;
    if (!is_value_of) continue;
    add_values(option, all);
    files = option.names_file;
    return all;
  }
  const bool names_option = words.back().starts_with('-');
  for (const OptionInfo& option : command.options) {
    if (names_option && !option.positional) all.push_back({option.name, brief(option.description)});
    if (!names_option && option.positional) add_values(option, all);
  }
  files = !names_option && all.empty();
  return all;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  return std::string(shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
}

std::string completions_of(const std::vector<std::string>& words,
                           const std::vector<CommandInfo>& commands) {
  Completions all;
  bool files = false;
  const auto command = std::ranges::find(commands, words.front(), &CommandInfo::name);
  if (words.size() == 1 || words.front() == "help") {
    for (const CommandInfo& each : commands) all.push_back({each.name, brief(each.description)});
    if (words.size() == 1) all.insert(all.end(), {{"help"}, {"--help"}, {"--version"}});
  } else if (command != commands.end()) {
    all = completions_in(*command, words, files);
  }
  // Of a list with commas the last value is completed.
  const std::string& word = words.back();
  const size_t front = word.find_last_of(',') + 1;
  std::string text;
  for (const Completion& each : all) {
    if (!each.word.starts_with(word.substr(front))) continue;
    text += word.substr(0, front) + each.word;
    text += each.meaning.empty() ? "\n" : "\t" + each.meaning + "\n";
  }
  return text + (files ? ":files\n" : "");
}

}  // namespace mpsprobe
