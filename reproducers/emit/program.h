#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reproducers/emit/emission.h"
#include "reproducers/emit/template_text.h"

// What the programs of every kind are put together from; see `emit`.

namespace mpsprobe {

/// Lines of a program, as they are gathered for a tag of its template.
class ProgramLines {
 public:
  /// Adds a line, or several, where `when`.
  ProgramLines& add(std::string_view line, bool when = true) {
    if (when && !line.empty()) (text_ += text_.empty() ? "" : "\n") += line;
    return *this;
  }
  ProgramLines& add(const ProgramLines& lines, bool when = true) { return add(lines.text_, when); }
  bool empty() const { return text_.empty(); }
  // NOLINTNEXTLINE(google-explicit-constructor): wherever a text is asked for
  operator std::string() const { return text_; }

 private:
  std::string text_;
};

/// The template of this name in request.programs, rendered with what every program has (title,
/// cell, notes, threads, iterations, main) and `values`. `main` is of main.cpp.mustache or
/// main.py.mustache. Throws InputError where one cannot be read.
std::string compose(const EmissionRequest& request, std::string_view name, TemplateValues values);

/// A file as it stands. Throws InputError where it cannot be read.
std::string read_program(const std::filesystem::path& path);

/// The sizes that the cell asks for, or the usual ones.
std::vector<std::string> sizes_of(const Cell& cell, std::string_view usual);

/// A text of a recipe with its placeholders filled in: $0, $1 ... are the sizes, 1 where there are
/// not so many, $S all of them with commas, $P their product, $L the last, and what `more` has.
std::string filled(std::string_view text, const std::vector<std::string>& sizes,
                   const std::map<char, std::string>& more = {});

/// "a, b" of "a = 1; b = 2": a recipe's list of variables.
struct Variable {
  std::string name;
  std::string value;
};
std::vector<Variable> variables_of(std::string_view list);

/// `text` with each of the words replaced.
std::string replaced(std::string text,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> words);

/// The names that begin with `prefix` in a call, each once, with `shown` in its place: "mx.matmul,
/// mx.maximum".
std::string names_in(std::string_view call, std::string_view prefix, std::string_view shown);
/// As api_of, of the libraries that have it; empty where they have no program of the operation.
std::string api_of_mlx(const Cell& cell);
std::string api_of_torch(const Cell& cell);
std::string api_of_metal(const Cell& cell);

/// Why no program says the cell; empty where one may.
std::string why_no_program(const Cell& cell);

/// Notes every axis that is not at its default, but for those that `said` names: what the program's
/// text depends on. What the cell is of (backend, op, path, profile) is always said. So an axis
/// that is new is noted until a program says it.
void say_rest(Emission& emission, const Cell& cell, std::initializer_list<std::string_view> said);

/// The programs, by what they are on.
Emission emit_metal(const EmissionRequest& request);
Emission emit_libtorch(const EmissionRequest& request);
Emission emit_torch_python(const EmissionRequest& request);
Emission emit_mlx(const EmissionRequest& request);
Emission emit_mlx_python(const EmissionRequest& request);
/// Their file and a program that calls the function, or has pytest call the test, as the cell does.
Emission emit_own_code(const EmissionRequest& request);

}  // namespace mpsprobe
