#include "reproducers/bundle/redaction/planted_texts_for_tests.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mpsprobe {
namespace {

std::vector<std::string> lines_of(const char* name) {
  const std::filesystem::path folder =
      std::filesystem::path(MPSPROBE_SOURCE_DIR) / "reproducers/bundle/redaction/testdata";
  std::ifstream stream(folder / name);
  if (!stream) throw std::runtime_error((folder / name).string() + " cannot be read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

PlantedText read(const std::string& kind, std::string spelling) {
  replace_all(spelling, "|", "");
  replace_all(spelling, "\\n", "\n");
  replace_all(spelling, "\\e", "\x1b");
  replace_all(spelling, "\\u0308", "\xcc\x88");
  replace_all(spelling, "\\u0301", "\xcc\x81");
  PlantedText planted;
  planted.kind = kind;
  while (true) {
    const size_t open = spelling.find("[[");
    const size_t close = spelling.find("]]", open);
    if (open == std::string::npos || close == std::string::npos) break;
    std::istringstream personal(spelling.substr(open + 2, close - open - 2));
    for (std::string line; std::getline(personal, line);) planted.personal.push_back(line);
    spelling.erase(close, 2);
    spelling.erase(open, 2);
  }
  planted.text = spelling;
  return planted;
}

std::vector<PlantedText> texts_of(const char* file) {
  std::vector<PlantedText> texts;
  for (const std::string& line : lines_of(file)) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string kind;
    std::getline(fields, kind, '\t');
    for (std::string spelling; std::getline(fields, spelling, '\t');) {
      texts.push_back(read(kind, spelling));
    }
  }
  return texts;
}

}  // namespace

std::vector<PlantedText> planted_texts() {
  std::vector<PlantedText> all;
  for (const char* file : {"personal.txt", "personal_other_kinds.txt", "personal_as_words.txt"}) {
    const std::vector<PlantedText> texts = texts_of(file);
    all.insert(all.end(), texts.begin(), texts.end());
  }
  return all;
}

std::vector<std::string> technical_lines() {
  std::vector<std::string> all;
  for (const char* file : {"technical.txt", "technical_more.txt", "technical_of_frameworks.txt"}) {
    const std::vector<std::string> lines = lines_of(file);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

}  // namespace mpsprobe
