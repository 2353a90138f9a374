#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mpsprobe {

/// What the tags of a template stand for. An empty text is false.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

/// The template with its tags replaced: variables, sections and inverted sections of Mustache
/// (https://mustache.github.io/mustache.5.html), nothing escaped, a section shown once or not at
/// all. A variable that stands alone on its line takes a text of several lines, indents each as the
/// tag is, and leaves no line where it is empty. `place` names the template in errors. Throws
/// InputError for a tag without a value and for a section that does not end: a broken
/// installation.
std::string rendered(std::string_view text, const TemplateValues& values, const std::string& place);

}  // namespace mpsprobe
