#pragma once

#include <string_view>

namespace mpsprobe {

/// The style sheet of the HTML report, the charts' own apart. Static storage.
std::string_view html_style();

/// Its script, filters and arrow keys. Static storage.
std::string_view html_script();

/// "sha256-...", as the page's policy names the script; html_test compares the two.
std::string_view html_script_hash();

}  // namespace mpsprobe
