#include "reproducers/bundle/redaction/redactor.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/input/input_error.h"
#include "harness/signature/find_failures.h"
#include "harness/signature/shape.h"
#include "harness/signature/title.h"
#include "harness/signature/written_stacks.h"
#include "harness/wire/ascii.h"
#include "harness/wire/variables.h"
#include "reports/words/counted.h"
#include "reproducers/bundle/redaction/software_names.h"
#include "reproducers/bundle/redaction/typed_values.h"

namespace mpsprobe {
namespace {

constexpr size_t kMostLine = 4096;
constexpr size_t kMostRemembered = 4096;
constexpr size_t kFewestOfId = 4;
constexpr size_t kMostOfId = 128;
constexpr size_t kMostDigitsOfSwitch = 4;

void mark(std::vector<bool>& keep, size_t begin, size_t end) {
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin),
            keep.begin() + static_cast<std::ptrdiff_t>(std::min(end, keep.size())), true);
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ascii::to_lower);
  return text;
}

/// The words of which every byte is kept, and the marks between them. Of others one kLeftOut.
std::string words_kept(std::string_view text, const std::vector<bool>& keep, size_t& left_out) {
  std::string result;
  std::string between;
  bool leaving = false;
  for (size_t at = 0; at < text.size();) {
    if (!is_word_byte(text[at])) {
      const bool plain = static_cast<unsigned char>(text[at]) >= 0x20 && text[at] != 0x7f;
      if (plain || text[at] == '\t') between += text[at];
      ++at;
      continue;
    }
    size_t end = at;
    bool whole = true;
    for (; end < text.size() && is_word_byte(text[end]); ++end) whole = whole && keep[end];
    // Between words that are kept; beside others it could be of a name.
    whole = whole || (!leaving && leads_on(text.substr(at, end - at)));
    if (whole || !leaving) result += between;
    between.clear();
    if (whole) result += text.substr(at, end - at);
    if (!whole && !leaving) {
      result += kLeftOut;
      ++left_out;
    }
    leaving = !whole;
    at = end;
  }
  return leaving ? result : result + between;
}

}  // namespace

bool is_stand_in(std::string_view name) {
  static const Shape kStandIn("(?:operation|VARIABLE|value)_\\d{1,9}$");
  return kStandIn.match(name, 0).has_value();
}

std::string without_number(const std::string& title) {
  static const Shape kNumbered(" \\(\\d{1,9}\\)$");
  const size_t last = title.find_last_of('(');
  const bool numbered = title.find(kLeftOut) != title.npos && last != title.npos && last > 0 &&
                        kNumbered.match(title, last - 1).has_value();
  return numbered ? title.substr(0, last - 1) : title;
}

bool could_be_shown_as(const std::string& text, const std::string& redacted) {
  if (text == redacted) return true;
  const std::string unnumbered = without_number(redacted);
  std::string_view left = unnumbered;
  bool says_something = false;
  bool first = true;
  for (size_t at = 0;; first = false) {
    const size_t end = left.find(kLeftOut);
    const std::string_view part = left.substr(0, end);
    says_something = says_something || std::any_of(part.begin(), part.end(), is_word_byte);
    if (end == left.npos) {
      return !first && says_something && text.size() >= at + part.size() && text.ends_with(part);
    }
    at = text.find(part, at);
    if (at == text.npos || (first && at > 0)) return false;
    at += part.size();
    left.remove_prefix(end + kLeftOut.size());
  }
}

Redactor::Redactor(bool enabled, std::vector<std::string> given)
    : enabled_(enabled), given_(std::move(given)) {
  for (std::string& text : given_) text = lowered(std::move(text));
}

void Redactor::add_system_image(std::string_view path) {
  if (is_path_of_the_system(path)) system_images_.emplace(last_part(path));
}

bool Redactor::is_of_the_software(std::string_view image) const {
  const std::string_view name = last_part(image);
  return !name.empty() &&
         (is_path_of_the_system(image) || is_name_of_the_software(name) ||
          place_in_a_package(image) != std::string_view::npos || system_images_.contains(name));
}

bool Redactor::is_own_word(std::string_view word) const {
  return own_.has_literal(word) || software_.has_literal(word);
}

/// A line of a stack: of an image of the software what it names, but for paths.
bool Redactor::mark_frame(std::string_view line, std::vector<bool>& keep) const {
  const std::optional<FrameLine> frame = read_frame_line(line);
  if (!frame) return false;
  const bool of_package = is_path_of_the_system(frame->image) ||
                          place_in_a_package(frame->image) != std::string_view::npos;
  if (!of_package && (frame->python || !is_of_the_software(frame->image))) return true;
  const auto mark_name = [&](std::string_view name) {
    const auto begin = static_cast<size_t>(name.data() - line.data());
    if (!name.empty()) mark(keep, begin, begin + name.size());
  };
  static const Shape kNumber("\\W*\\d{1,4}(?!\\w)");
  if (const auto number = kNumber.match(line, 0)) mark(keep, number->begin, number->end);
  if (frame->image.find('/') == std::string_view::npos) mark_name(frame->image);
  mark_name(frame->function.substr(0, frame->function.find('/')));
  return true;
}

Redactor::Shown Redactor::shown_line(std::string_view whole, std::string_view line,
                                     const std::vector<bool>& rules) {
  Shown shown;
  const size_t begin = static_cast<size_t>(line.data() - whole.data());
  line = line.substr(0, kMostLine);
  std::vector<bool> keep(rules.begin() + static_cast<std::ptrdiff_t>(begin),
                         rules.begin() + static_cast<std::ptrdiff_t>(begin + line.size()));
  shown.known = std::find(keep.begin(), keep.end(), true) != keep.end();
  for (size_t at = 0; at < line.size();) {
    const bool word = is_word_byte(line[at]) && (at == 0 || !is_word_byte(line[at - 1]));
    const size_t run = word ? std::max(software_.run_at(line, at), own_.run_at(line, at)) : 0;
    mark(keep, at, at + run);
    shown.known = shown.known || run > 0;
    at += std::max<size_t>(run, 1);
  }
  shown.known = mark_frame(line, keep) || shown.known;
  mark_typed_values(line, keep);
  shown.text = without_given(words_kept(line, keep, shown.left_out));
  return shown;
}

/// What rules of the signatures and these functions know of a text, and then each of its lines.
void Redactor::each_line(std::string_view text, const std::set<std::string>& functions,
                         const std::function<void(std::string_view, Shown)>& take) {
  std::vector<bool> rules(text.size());
  for (const TextPart& part : words_of_rules(text)) mark(rules, part.begin, part.end);
  for (const std::string& function : functions) {
    const size_t at = function.empty() ? std::string_view::npos : text.find(function);
    if (at != std::string_view::npos) mark(rules, at, at + function.size());
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    take(line, shown_line(text, line, rules));
    begin = end + 1;
  }
}

Redactor::Shown Redactor::shown(std::string_view text, const std::set<std::string>& functions) {
  Shown all;
  each_line(text, functions, [&](std::string_view line, const Shown& shown) {
    all.text += (line.data() == text.data() ? "" : "\n") + shown.text;
    all.left_out += shown.left_out;
  });
  return all;
}

std::string Redactor::without_given(std::string text) const {
  for (const std::string& given : given_) {
    std::string lower = lowered(text);
    for (size_t at = lower.find(given); at != std::string::npos; at = lower.find(given)) {
      text.replace(at, given.size(), kLeftOut);
      lower = lowered(text);
    }
  }
  return text;
}

std::string Redactor::text(std::string_view text) {
  if (!enabled_ || text.empty()) return std::string(text);
  if (texts_.size() > kMostRemembered) texts_.clear();
  const auto [at, fresh] = texts_.try_emplace(std::string(text));
  if (fresh && is_own_word(text)) at->second.text = without_given(std::string(text));
  if (fresh && at->second.text.empty()) at->second = shown(text);
  texts_left_out_ += at->second.left_out;
  return at->second.text;
}

std::string Redactor::title(std::string_view title, const std::set<std::string>& functions) {
  if (!enabled_) return std::string(title);
  const Shown made = shown(title, functions);
  texts_left_out_ += made.left_out;
  return made.text;
}

std::string Redactor::output(std::string_view text) {
  if (!enabled_ || text.empty()) return std::string(text);
  if (outputs_.size() > kMostRemembered) outputs_.clear();
  const auto [at, fresh] = outputs_.try_emplace(std::string(text));
  Shown& all = at->second;
  if (fresh) {
    size_t waiting = 0;
    const auto say_left_out = [&] {
      if (waiting > 0)
        all.text += fmt::format("[... {} left out ...]\n", counted(waiting, "lines"));
      all.left_out += waiting;
      waiting = 0;
    };
    each_line(text, {}, [&](std::string_view line, const Shown& shown) {
      if (shown.known) {
        say_left_out();
        all.text += shown.text + "\n";
      } else if (line.find_first_not_of(" \t") != line.npos) {
        ++waiting;
      }
    });
    say_left_out();
    // A message is compared and shown as one line.
    if (all.text.ends_with('\n') && !text.ends_with('\n')) all.text.pop_back();
  }
  lines_left_out_ += all.left_out;
  return all.text;
}

std::string Redactor::symbol(std::string_view function, std::string_view image) {
  if (!enabled_) return std::string(function);
  if (!is_of_the_software(image)) return text(function);
  // clang names a lambda by the path of its source: that of who built it.
  std::string shown;
  constexpr std::string_view kPlace = "(lambda at ";
  for (size_t at = function.find(kPlace); at != std::string_view::npos;
       at = function.find(kPlace)) {
    shown += std::string(function.substr(0, at)) + "(lambda)";
    function.remove_prefix(std::min(function.find(')', at), function.size() - 1) + 1);
  }
  return shown + std::string(function);
}

std::string Redactor::of_system(std::string_view text) {
  static const Shape kPlain("[A-Za-z0-9 .,()@_+/:-]{1,120}$");
  return kPlain.match(text, 0) ? without_given(std::string(text)) : this->text(text);
}

std::string Redactor::build_id(std::string_view id) {
  const bool digits = id.size() >= kFewestOfId && id.size() <= kMostOfId &&
                      id.find_first_not_of("0123456789abcdefABCDEF-:") == std::string_view::npos;
  return !enabled_ || id.empty() || digits ? std::string(id) : "<id>";
}

std::string Redactor::path(std::string_view path) {
  if (!enabled_ || path.empty() || is_path_of_the_system(path)) return std::string(path);
  if (const size_t place = place_in_a_package(path); place != std::string_view::npos) {
    return "*/" + text(path.substr(place));
  }
  const std::string_view name = last_part(path);
  std::string front = name.size() == path.size() ? "" : "*/";
  if (is_of_the_software(name)) return without_given(front + std::string(name));
  ++texts_left_out_;
  if (name.empty()) return front;
  return front + "<file>" + std::string(ending_of_software(name));
}

bool Redactor::is_value_of_the_software(const std::string& text) const {
  const bool digits = text.size() <= kMostDigitsOfSwitch && !text.empty() &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return text == kUnset || digits || is_own_word(text) || is_typed_value(text);
}

std::string Redactor::stand_in(std::string_view kind, const std::string& text) {
  if (is_value_of_the_software(text)) return text;
  const auto [at, fresh] = stand_ins_.try_emplace(fmt::format("{} {}", kind, text));
  if (fresh) at->second = fmt::format("{}_{}", kind, stand_ins_.size());
  return at->second;
}

void Redactor::cell(Cell& cell) {
  if (!enabled_) return;
  if (cell.op != Cell{}.op) cell.op = stand_in("operation", cell.op);
  if (cell.env == Cell{}.env) return;
  Variables shown;
  for (const auto& [name, value] : parse_variables(cell.env)) {
    const bool known = is_variable_of_the_software(name);
    const std::string shown_name = known ? name : stand_in("VARIABLE", name);
    shown[shown_name] = stand_in("value", value);
  }
  cell.env = to_axis_value(shown);
}

std::string Redactor::variable(std::string_view assignment) {
  if (!enabled_) return std::string(assignment);
  const size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string name(assignment.substr(0, equals));
  const std::string value(assignment.substr(std::min(equals + 1, assignment.size())));
  const bool own = std::max(software_.run_at(name, 0), own_.run_at(name, 0)) == name.size();
  if (!is_variable_of_the_software(name) || (!own && !software_.empty())) {
    return "<variable>=" + std::string(kLeftOut);
  }
  if (value.starts_with('/')) return name + "=" + path(value);
  return name + "=" + (is_value_of_the_software(value) ? value : std::string(kLeftOut));
}

std::string Redactor::argument(std::string_view argument) {
  const size_t equals = argument.find('=');
  if (argument.starts_with("--") && is_own_word(argument.substr(0, equals))) {
    if (equals == std::string_view::npos) return std::string(argument);
    return std::string(argument.substr(0, equals + 1)) +
           this->argument(argument.substr(equals + 1));
  }
  if (argument.find('/') == std::string_view::npos) {
    const std::string value(argument);
    return is_value_of_the_software(value) ? value : text(argument);
  }
  try {
    Cell cell = parse_cell(argument);
    this->cell(cell);
    return to_string(cell);
  } catch (const InputError&) {
    return path(argument);
  }
}

void Redactor::command_line(std::vector<std::string>& arguments) {
  if (!enabled_) return;
  // Behind it stands a command of somebody's own.
  const auto own = std::find(arguments.begin(), arguments.end(), "--");
  if (own != arguments.end()) {
    arguments.erase(own + 1, arguments.end());
    arguments.emplace_back(kLeftOut);
  }
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

}  // namespace mpsprobe
