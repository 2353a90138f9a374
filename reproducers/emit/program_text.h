#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reproducers/emit/emission.h"
#include "reproducers/emit/parameter_block.h"

/// What the emitters of every kind of program have in common.
namespace mpsprobe {

/// A program of reproducers/programs as it stands. Throws InputError where it cannot be read.
std::string read_program(const std::filesystem::path& path);

/// The text below its first lines: the cell, and what is known of its failure. `mark` begins a
/// comment.
std::string headed(const EmissionRequest& request, std::string_view mark, const std::string& text);

std::string_view bool_of(bool value);

/// The sizes that the cell asks for, or the usual ones.
std::vector<std::string> sizes_of(const Cell& cell, std::string_view usual);

/// A text of a recipe with its placeholders filled in: $0, $1 ... are the sizes, 1 where there are
/// not so many, $S all of them with commas, $L the last, and what `more` has.
std::string filled(std::string_view text, const std::vector<std::string>& sizes,
                   const std::map<char, std::string>& more);

/// `value` as a function of a thread's number x and of the index i, where it names that.
std::string element(const std::string& value);

/// Notes an axis that the program cannot say, where that applies.
void say(Emission& emission, bool applies, std::string_view axis, const Cell& cell,
         const std::string& what);

/// The axes that no program but the cell itself says.
void say_common(Emission& emission, const Cell& cell);

/// For programs that start their threads once.
void say_once(Emission& emission, const Cell& cell);

/// The axes that no program on Metal alone says, after the common ones.
void say_of_metal(Emission& emission, const Cell& cell);

/// Notes every other axis that is not at its default, but for those that `said` names: what the
/// program's text depends on. What the cell is of (backend, op, path, profile) is always said. So
/// an axis that is new is noted until a program says it.
void say_rest(Emission& emission, const Cell& cell, std::initializer_list<std::string_view> said);

/// How many runs see a failure of the measured rate with 99%; from 10 to 300.
size_t runs_for(const EmissionRequest& request);

/// The parameters that every C++ program has.
void set_common(ParameterBlock& block, const EmissionRequest& request);

}  // namespace mpsprobe
