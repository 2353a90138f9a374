#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mpsprobe {

/// A text as a program might print it, with what in it must not be handed on (for tests).
struct PlantedText {
  std::string kind;                   ///< "IPv4 address"
  std::string text;                   ///< "connected to 198.51.100.23:443"
  std::vector<std::string> personal;  ///< "198.51.100.23": each line of it
};

/// All of testdata/personal.txt, three a kind of which patterns are written, of
/// personal_other_kinds.txt, whose kinds have no pattern for the most part, and of
/// personal_as_words.txt: names made of words of software and of everyday.
std::vector<PlantedText> planted_texts();

/// The lines of testdata/technical*.txt: nothing in them is anybody's.
std::vector<std::string> technical_lines();

}  // namespace mpsprobe
