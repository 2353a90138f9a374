#include "reproducers/bundle/redaction/redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/wire/variables.h"
#include "reproducers/bundle/redaction/pattern.h"
#include "reproducers/bundle/redaction/personal_patterns.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/bundle/redaction/text_scan.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostKeysNoted = 256;
constexpr size_t kMostKeyBytes = 80;
/// Of a text that is remembered, and texts that are.
constexpr size_t kMostRemembered = size_t{1} << 18;
constexpr size_t kMostMemories = 4096;

/// Variables about Metal, PyTorch, the loader and threads. Their values may still hold paths.
constexpr std::array<std::string_view, 16> kVariables{
    "MPS_", "PYTORCH_", "TORCH_", "MTL_",  "METAL_", "MPSPROBE_", "OMP_",   "KMP_",
    "MKL_", "GOMP_",    "CUDA_",  "DYLD_", "LD_",    "Malloc",    "MALLOC", "OBJC_"};

size_t times_not_known(std::string_view text) {
  size_t times = 0;
  for (size_t at = text.find(kNotKnown); at != std::string_view::npos;
       at = text.find(kNotKnown, at + 1)) {
    ++times;
  }
  return times;
}

bool alone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !is_name_byte(text[begin - 1])) &&
         (end >= text.size() || !is_name_byte(text[end]));
}

/// What a path may keep: "~" for the personal folder, and its last part.
std::string shortened_path(std::string_view rest) {
  const size_t last = rest.find_last_of("/\\");
  size_t parts = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    const bool separator = rest[i] == '/';
    if (separator && i + 1 < rest.size() && rest[i + 1] != '/') ++parts;
  }
  if (last == std::string_view::npos || parts == 0) return "~";
  std::string name(rest.substr(
      rest.find_last_of('/') == std::string_view::npos ? last + 1 : rest.find_last_of('/') + 1));
  if (name.empty()) return "~/";
  return (parts > 1 ? "~/*/" : "~/") + name;
}

PersonalKind kind_of(PersonalPath::Root root) {
  if (root == PersonalPath::Root::home) return PersonalKind::home_path;
  return root == PersonalPath::Root::volume ? PersonalKind::volume_name
                                            : PersonalKind::temporary_folder;
}

PersonalKind kind_of(KeyedValue::Meaning meaning) {
  using Meaning = KeyedValue::Meaning;
  if (meaning == Meaning::serial) return PersonalKind::serial_number;
  if (meaning == Meaning::user) return PersonalKind::user_name;
  if (meaning == Meaning::host) return PersonalKind::host_name;
  return meaning == Meaning::home ? PersonalKind::home_path : PersonalKind::identifier;
}

}  // namespace

bool is_variable_of_the_software(std::string_view name) {
  return std::any_of(kVariables.begin(), kVariables.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void Redactor::count(PersonalKind kind) {
  if (noting_ != nullptr) {
    noting_->push_back(kind);
    return;
  }
  ++replaced_[{part_, std::string(name_of(kind))}];
}

std::string Redactor::recall(Memory& memory, std::string_view text,
                             Done (Redactor::*make)(std::string_view)) {
  auto known = memory.find(std::string(text));
  if (known == memory.end()) {
    if (memory.size() >= kMostMemories || text.size() > kMostRemembered) memory.clear();
    known = memory.emplace(std::string(text), (this->*make)(text)).first;
  }
  const Done& done = known->second;
  for (PersonalKind kind : done.replaced) count(kind);
  if (done.lines_left_out > 0) lines_left_out_[part_] += done.lines_left_out;
  if (done.not_known > 0) replaced_[{part_, "word or number that is not known"}] += done.not_known;
  return done.text;
}

void Redactor::dropped(std::string_view key) {
  std::set<std::string>& keys = left_out_[part_];
  if (keys.size() >= kMostKeysNoted) return;
  // A key is a text of the evidence like any other.
  keys.insert(only_known(key.substr(0, kMostKeyBytes), Names::words));
}

std::string Redactor::without_patterns(std::string_view text) {
  std::string result;
  size_t done = 0;
  for (const PatternHit& hit : find_patterns(text)) {
    result += text.substr(done, hit.begin - done);
    result += placeholder_of(hit.kind);
    done = hit.end;
    count(hit.kind);
  }
  result += text.substr(done);
  return result;
}

template <typename Find, typename Shown>
std::string Redactor::without(std::string_view text, const Find& find, const Shown& shown) {
  std::string result;
  size_t done = 0;
  while (const auto hit = find(text, done)) {
    result += text.substr(done, hit->begin - done);
    result += shown(*hit);
    done = hit->end;
  }
  result += text.substr(done);
  return result;
}

std::string Redactor::without_paths(std::string_view text) {
  return without(text, find_personal_path, [this](const PersonalPath& path) {
    count(kind_of(path.root));
    return shortened_path(path.rest);
  });
}

std::string Redactor::without_keyed_values(std::string_view text) {
  return without(text, find_keyed_value, [this](const KeyedValue& value) {
    count(kind_of(value.meaning));
    return placeholder_of(kind_of(value.meaning));
  });
}

std::string Redactor::without_known(std::string_view text) {
  std::string result(text);
  std::string lower = ascii_lower(result);
  for (const PersonalString& known : strings_.all()) {
    size_t at = lower.find(known.text);
    if (at == std::string::npos) continue;
    const std::string_view placeholder = placeholder_of(known.kind);
    std::string kept;
    size_t done = 0;
    for (; at != std::string::npos; at = lower.find(known.text, at)) {
      const size_t end = at + known.text.size();
      if (known.whole_word && !alone(lower, at, end)) {
        ++at;
        continue;
      }
      kept.append(result, done, at - done);
      kept += placeholder;
      count(known.kind);
      done = at = end;
    }
    if (done == 0) continue;
    kept.append(result, done);
    result = std::move(kept);
    lower = ascii_lower(result);
  }
  return result;
}

std::string Redactor::without_mail(std::string_view text) {
  return without(text, find_mail_address, [this](const MailAddress&) {
    count(PersonalKind::mail_address);
    return placeholder_of(PersonalKind::mail_address);
  });
}

Redactor::Done Redactor::make_text(std::string_view text) {
  Done done;
  std::vector<PersonalKind>* const before = std::exchange(noting_, &done.replaced);
  // Text of two bytes a character hides every word from whoever looks for it.
  std::string plain(text);
  plain.erase(std::remove(plain.begin(), plain.end(), '\0'), plain.end());
  done.text =
      without_known(without_mail(without_keyed_values(without_paths(without_patterns(plain)))));
  noting_ = before;
  return done;
}

Redactor::Done Redactor::made_known(std::string_view text, Names names, Numbers numbers) {
  Done done = make_text(text);
  done.text = only_known(done.text, names, numbers);
  done.not_known = times_not_known(done.text);
  return done;
}

Redactor::Done Redactor::make_words(std::string_view text) {
  return made_known(text, Names::words, Numbers::harmless);
}

Redactor::Done Redactor::make_symbols(std::string_view text) {
  return made_known(text, Names::symbols, Numbers::harmless);
}

Redactor::Done Redactor::make_whole_output(std::string_view text) {
  return made_known(readable_text(text), Names::words, Numbers::any);
}

Redactor::Done Redactor::make_lines(std::string_view text) {
  const KnownLines lines = only_known_lines(text);
  Done done = make_text(lines.text);
  done.lines_left_out = lines.left_out;
  done.not_known = times_not_known(done.text);
  return done;
}

std::string Redactor::text(std::string_view text) {
  return enabled_ ? recall(texts_, text, &Redactor::make_text) : std::string(text);
}

std::string Redactor::known(std::string_view text, Names names) {
  if (!enabled_) return std::string(text);
  return names == Names::words ? recall(words_, text, &Redactor::make_words)
                               : recall(symbols_, text, &Redactor::make_symbols);
}

std::string Redactor::output(std::string_view text) {
  if (!enabled_) return std::string(text);
  return recall(lines_, text,
                leaves_lines_out() ? &Redactor::make_lines : &Redactor::make_whole_output);
}

std::string Redactor::build_id(std::string_view id) {
  if (!enabled_ || id.empty() || is_build_id(id)) return text(id);
  count(PersonalKind::identifier);
  return std::string(placeholder_of(PersonalKind::identifier));
}

std::string Redactor::path(std::string_view path) {
  if (!enabled_) return std::string(path);
  if (path.find_first_of("/\\%") == std::string_view::npos) {
    return is_known_file(path) ? text(path) : known(path, Names::words);
  }
  if (is_path_of_the_system(path)) return text(path);
  const size_t separator = path.find_last_of("/\\");
  const std::string_view name =
      separator == std::string_view::npos ? path : path.substr(separator + 1);
  ++replaced_[{part_, "path, shortened to its last part"}];
  // Looked through without the folders as well: behind a key it would be a value.
  if (is_known_file(name)) return text("*/" + text(name));
  return "*/<file>" + std::string(ending_of_software(name));
}

std::string Redactor::image(std::string_view name) {
  if (!enabled_ || name.empty()) return text(name);
  if (is_software_of_everybody(name) && is_known_name(name)) return text(name);
  ++replaced_[{part_, "name of an image or a process"}];
  return "<image>";
}

std::string Redactor::message(std::string_view message) {
  if (!enabled_) return std::string(message);
  constexpr std::string_view kBetween = " '\"()";
  std::string result;
  for (size_t begin = 0; begin < message.size();) {
    if (kBetween.find(message[begin]) != std::string_view::npos) {
      result += message[begin++];
      continue;
    }
    const size_t end = std::min(message.find_first_of(kBetween, begin), message.size());
    const std::string_view whole = message.substr(begin, end - begin);
    const std::string_view word = whole.substr(0, whole.find_last_not_of(":,.") + 1);
    const bool is_path = word.starts_with('/') && word.size() > 1;
    result += is_path ? path(word) : known(word, Names::words);
    result += whole.substr(word.size());
    begin = end;
  }
  return text(result);
}

std::string Redactor::argument(std::string_view argument) {
  const size_t equals = argument.find('=');
  const size_t value = equals == std::string_view::npos ? 0 : equals + 1;
  if (!enabled_ || !argument.substr(value).starts_with('/')) {
    return known(argument, Names::words);
  }
  return known(argument.substr(0, value), Names::words) + path(argument.substr(value));
}

void Redactor::command_line(std::vector<std::string>& arguments) {
  bool of_environment = false;
  for (std::string& argument : arguments) {
    constexpr std::string_view kOption = "--env=";
    if (of_environment) {
      argument = variable(argument);
      of_environment = false;
    } else if (argument.starts_with(kOption)) {
      argument = std::string(kOption) + variable(argument.substr(kOption.size()));
    } else {
      of_environment = argument == "--env";
      argument = this->argument(argument);
    }
  }
}

bool is_stand_in(std::string_view name) {
  static const Pattern kStandIn(R"(^(?:operation|VARIABLE|value)_\d+$)");
  return kStandIn.in(name);
}

std::string Redactor::stand_in(std::string_view kind, const std::string& text) {
  if (known(text, Names::words) == text) return text;
  const auto [at, fresh] = stand_ins_.try_emplace(fmt::format("{} {}", kind, text));
  if (fresh) at->second = fmt::format("{}_{}", kind, stand_ins_.size());
  return at->second;
}

void Redactor::cell(Cell& cell) {
  if (!enabled_) return;
  cell.op = stand_in("operation", cell.op);
  if (cell.env == Cell{}.env) return;
  Variables shown;
  for (const auto& [name, value] : parse_variables(cell.env)) {
    const std::string shown_name =
        is_variable_of_the_software(name) ? name : stand_in("VARIABLE", name);
    shown[shown_name] = stand_in("value", value);
  }
  cell.env = to_axis_value(shown);
}

std::string Redactor::variable(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  if (!enabled_ || equals == std::string_view::npos || is_variable_of_the_software(name)) {
    return argument(assignment);
  }
  dropped(name);
  return "<variable>=<redacted>";
}

}  // namespace mpsprobe
