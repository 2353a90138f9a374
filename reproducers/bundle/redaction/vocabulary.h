#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether a word, in lower case, is one that the software under test and mpsprobe speak in: of the
/// rules that read texts (harness/signature/rules), of bundles (own_words.txt), of axes, or of the
/// known messages of frameworks (technical_words.txt).
bool is_technical_word(std::string_view lower);

/// Whether people are named by a word of the vocabulary as well: "Page", "will".
bool is_name_of_people(std::string_view word);

/// Whether a word of the vocabulary that stands alone is written as one: where a sentence has begun
/// before it, with a capital only where a rule writes it so, and what people are named by never.
bool is_technical_word_alone(std::string_view word, bool begins);

/// Whether a name of letters, digits and '_' is made of such words, small numbers and units alone:
/// "setPipelineState", "AGXG16XFamily", "H100", "0x1f2c", "fp16", "512x512". Nothing that chance
/// made is: more than two letters that stand alone do not count as words.
bool is_technical_name(std::string_view name);

}  // namespace mpsprobe
