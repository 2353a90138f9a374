#include "tools/signatures/pastes/line_end.h"

namespace mpsprobe {

size_t box_length(std::string_view text, size_t at) {
  const std::string_view three = text.substr(at, 3);
  return three.size() == 3 && three[0] == '\xe2' && three[1] >= '\x94' && three[1] <= '\x96' ? 3
                                                                                             : 0;
}

std::string_view without_end(std::string_view line) {
  while (!line.empty()) {
    const char last = line.back();
    if (last == ' ' || last == '\t' || last == '\r') {
      line.remove_suffix(1);
    } else if (line.size() >= 3 && box_length(line, line.size() - 3) > 0) {
      line.remove_suffix(3);
    } else {
      break;
    }
  }
  return line;
}

}  // namespace mpsprobe
