#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "reproducers/bundle/redaction/redactor.h"

namespace mpsprobe {

/// How a value that is wanted is taken over.
enum class Take : unsigned char {
  words,     ///< numbers and truth values as they are, texts by Redactor::known
  text,      ///< a text by Redactor::text: what a system tells of itself, and no user
  symbol,    ///< the same, and names of functions as well
  build_id,  ///< a text by Redactor::build_id
  output,    ///< a text by Redactor::output
  path,      ///< a text by Redactor::path
  message,   ///< a text by Redactor::message
  image,     ///< a text by Redactor::image
  variable,  ///< a text as Redactor::variable takes the value of the variable that the key names
  number,    ///< numbers and truth values alone, whatever holds them: texts are left out
  all,       ///< everything below, each text by Redactor::known
};

/// One place of a structured file: "threads[].frames[].symbol", "asi.*[]"; "*" stands for any key,
/// "[]" for every element of a list.
struct Wanted {
  std::string_view place;
  Take take = Take::words;
};

/// The parts of `value` that the list names, with personal data replaced. Everything else is left
/// out, and told to the redactor. Without redaction: `value` itself.
nlohmann::ordered_json only_wanted(const nlohmann::ordered_json& value,
                                   std::span<const Wanted> wanted, Redactor& redactor);

}  // namespace mpsprobe
