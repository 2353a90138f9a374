#include "reports/html/markup.h"

namespace mpsprobe {

std::string markup(std::string_view bytes, size_t most, Lines lines) {
  const std::string text = shortened(printable(bytes, lines), most);
  std::string safe;
  safe.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        // U+FFFE and U+FFFF are EF BF BE and EF BF BF; U+FFFD, which stands for them, EF BF BD.
        if ((text[at] == '\xBE' || text[at] == '\xBF') && at >= 2 && text[at - 1] == '\xBF' &&
            text[at - 2] == '\xEF') {
          safe += '\xBD';
        } else {
          safe += text[at];
        }
    }
  }
  return safe;
}

}  // namespace mpsprobe
