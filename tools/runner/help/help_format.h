#pragma once

#include <cstddef>
#include <memory>

namespace CLI {
class FormatterBase;
}

namespace mpsprobe {

/// How help is laid out: names to the left, what they mean wrapped to their right, nothing wider
/// than `width` columns. What an option may be stands in its description.
std::shared_ptr<CLI::FormatterBase> help_format(size_t width);

}  // namespace mpsprobe
