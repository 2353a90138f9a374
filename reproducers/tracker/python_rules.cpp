#include "reproducers/tracker/python_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

/// Names that reach outside the process or make code of text, wherever they stand.
constexpr std::array<std::string_view, 38> kForbidden{
    "os",           "sys",           "subprocess", "multiprocessing", "open",     "eval",
    "exec",         "__import__",    "importlib",  "environ",         "getenv",   "putenv",
    "pathlib",      "shutil",        "socket",     "urllib",          "requests", "http",
    "ctypes",       "pickle",        "base64",     "tempfile",        "input",    "breakpoint",
    "globals",      "locals",        "vars",       "getattr",         "setattr",  "__builtins__",
    "__builtin__",  "cpp_extension", "hub",        "system",          "popen",    "from_file",
    "load_library", "__subclasses__"};

/// Names that do so as a function of torch, and are harmless elsewhere.
constexpr std::array<std::string_view, 2> kForbiddenOfTorch{"load", "save"};

constexpr std::array<std::string_view, 2> kModules{"torch", "threading"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// A program without its comments and the texts of its strings: same lines, same columns, blanks in
/// their place. What an f-string evaluates stays.
class Code {
 public:
  explicit Code(std::string_view program) : from_(program), code_(program) {
    while (at_ < from_.size()) step();
  }

  std::string text() && { return std::move(code_); }

 private:
  void blank() {
    if (from_[at_] != '\n') code_[at_] = ' ';
    ++at_;
  }

  void step() {
    const char c = from_[at_];
    if (c == '#') {
      while (at_ < from_.size() && from_[at_] != '\n') blank();
    } else if (c == '"' || c == '\'') {
      skip_string(prefix_before());
    } else {
      ++at_;
    }
  }

  /// The letters right before a quote, where they are a prefix and no name: "f", "rb".
  std::string_view prefix_before() const {
    size_t begin = at_;
    while (begin > 0 && is_word(from_[begin - 1])) --begin;
    return at_ - begin <= 2 ? from_.substr(begin, at_ - begin) : std::string_view();
  }

  void skip_string(std::string_view prefix) {
    const bool evaluates = prefix.find_first_of("fFtT") != std::string_view::npos;
    const char quote = from_[at_];
    const bool triple = from_.substr(at_, 3) == std::string(3, quote);
    const std::string end(triple ? 3 : 1, quote);
    for (size_t i = 0; i < end.size(); ++i) blank();
    int braces = 0;
    while (at_ < from_.size()) {
      if (from_.substr(at_, end.size()) == end) {
        for (size_t i = 0; i < end.size(); ++i) blank();
        return;
      }
      if (!triple && from_[at_] == '\n') return;  // not closed: the line's end closes it
      if (from_[at_] == '\\' && at_ + 1 < from_.size()) {
        blank();
        blank();
        continue;
      }
      if (evaluates && from_[at_] == '{') ++braces;
      if (evaluates && from_[at_] == '}') --braces;
      if (braces > 0) {
        ++at_;
      } else {
        blank();
      }
    }
  }

  std::string_view from_;
  std::string code_;
  size_t at_ = 0;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::vector<std::string_view>() : split(text, '\n');
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    if (!is_word(line[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < line.size() && is_word(line[at])) ++at;
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f") == std::string_view::npos;
}

class Check {
 public:
  std::vector<std::string> run(std::string_view program) {
    const std::string code = Code(program).text();
    const std::vector<std::string_view> written = lines_of(program);
    const std::vector<std::string_view> lines = lines_of(code);
    size_t statements = 0;
    size_t comments = 0;
    for (size_t i = 0; i < written.size(); ++i) {
      number_ = i + 1;
      const size_t first = written[i].find_first_not_of(" \t");
      const bool comment =
          is_blank(lines[i]) && first != std::string_view::npos && written[i][first] == '#';
      check_form(written[i], comment);
      if (is_blank(lines[i])) {
        // A line that held only a text is a line like any other.
        comments += comment ? 1 : 0;
        statements += comment || is_blank(written[i]) ? 0 : 1;
        continue;
      }
      if (!check_import(lines[i])) ++statements;
      check_names(lines[i]);
    }
    const auto bound = [this](size_t count, size_t most, const char* what) {
      if (count > most)
        broken_.push_back(fmt::format("has {} {}; {} are the most", count, what, most));
    };
    bound(statements, kMostPythonLines, "lines besides its imports");
    bound(comments, kMostCommentLines, "lines of comment");
    if (!imports_torch_) broken_.emplace_back("does not import torch");
    return std::move(broken_);
  }

 private:
  void complain(const std::string& what) {
    broken_.push_back(fmt::format("line {}: {}", number_, what));
  }

  /// A control character might end a line for Python, and so a comment.
  void check_form(std::string_view line, bool comment) {
    const size_t most = comment ? kMostCommentColumns : kMostPythonColumns;
    if (line.size() > most) complain(fmt::format("is over {} columns", most));
    const auto odd = [comment](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x20 || byte == 0x7f || (byte > 0x7f && !comment);
    };
    if (std::any_of(line.begin(), line.end(), odd)) {
      complain(comment ? "holds a control character" : "holds a character that is no ASCII");
    }
  }

  /// Whether the line is an import, which then is checked.
  bool check_import(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || (words[0] != "import" && words[0] != "from")) {
      if (std::find(words.begin(), words.end(), "import") != words.end()) {
        complain("imports inside another statement");
      }
      return false;
    }
    if (words[0] == "from") {
      check_module(words.size() > 1 ? words[1] : "");
    } else {
      check_import_list(line.substr(line.find("import") + 6));
    }
    return true;
  }

  void check_import_list(std::string_view list) {
    for (const std::string_view item : split(list, ',')) {
      const std::vector<std::string_view> words = words_of(item);
      check_module(words.empty() ? "" : words[0]);
    }
  }

  void check_module(std::string_view module) {
    if (!contains(kModules, module)) {
      complain(fmt::format("imports \"{}\"; only torch and threading may be imported", module));
    }
    imports_torch_ = imports_torch_ || module == "torch";
  }

  void check_names(std::string_view line) {
    if (line.find(';') != std::string_view::npos) complain("holds two statements");
    if (line.find('\\') != std::string_view::npos) complain("is continued by a backslash");
    for (const std::string_view word : words_of(line)) {
      if (contains(kForbidden, word)) complain(fmt::format("uses \"{}\"", word));
      const size_t before = static_cast<size_t>(word.data() - line.data());
      const bool of_torch = before >= 6 && line.substr(before - 6, 6) == "torch.";
      if (of_torch && contains(kForbiddenOfTorch, word)) {
        complain(fmt::format("uses \"torch.{}\"", word));
      }
      const bool builtin = before == 0 || line[before - 1] != '.';
      if (builtin && word == "compile") complain("uses \"compile\"");
    }
  }

  std::vector<std::string> broken_;
  size_t number_ = 0;
  bool imports_torch_ = false;
};

}  // namespace

std::vector<std::string> broken_python_rules(std::string_view program) {
  return Check().run(program);
}

}  // namespace mpsprobe
