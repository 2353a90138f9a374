#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/wire/axis.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace mpsprobe {

/// What the text of an option must be. Each message says what was written and what is allowed.

/// For an option that takes a number: its text must be a number of that range as people write it,
/// and not "nan", "inf", "1e999" or a number that does not fit.
CLI::Validator number_between(double least, double most);
CLI::Validator whole_number_between(uint64_t least, uint64_t most);

/// For an option that takes a rate, "5%" or "0.05": becomes the number between 0 and 1.
CLI::Validator rate_between(double least, double most);

/// One of these names. The message says which there are and which one is near.
CLI::Validator one_of(std::vector<std::string> names);

/// Values of an axis as people write them: a list, and ranges of counts.
CLI::Validator values_of(const Axis& axis);

/// The same for a list with commas.
CLI::Validator list_of(std::vector<std::string> names);

/// The words of a list with commas.
std::set<std::string> words_in(const std::string& list);

/// Options that stand alone: where `option` is given, every other option of the command is refused
/// but those in `beside` ("--json", or the name of a positional), whichever there are. `problem`
/// says why: "goes on with the options that it began with". Throws InputError as they are parsed.
/// Call once for a command, whose final callback it is.
struct Alone {
  std::string option;
  std::set<std::string> beside;
  std::string problem;
};
void stand_alone(CLI::App& app, std::vector<Alone> options);

/// The names that one_of, list_of or values_of let an option have; empty where it may be anything
/// else.
std::vector<std::string> names_allowed(const CLI::Option& option);

}  // namespace mpsprobe
