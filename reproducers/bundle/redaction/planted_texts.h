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

/// All of testdata/personal.txt: three a kind.
std::vector<PlantedText> planted_texts();

/// All of testdata/personal_other_kinds.txt: no pattern was written for most of them.
std::vector<PlantedText> planted_texts_of_other_kinds();

/// The lines of testdata/technical.txt and technical_more.txt: nothing in them is anybody's.
std::vector<std::string> technical_lines();

}  // namespace mpsprobe
