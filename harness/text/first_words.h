#pragma once

#include <string_view>

namespace mpsprobe {

/// Whether a word only leads on to others within a sentence: "of", "the", "must". May be called
/// from any thread, as the next.
bool leads_on(std::string_view word);

/// The beginning of a message that names it: up to the sixth word that names something, one of two
/// letters or more that does more than lead on, without a colon at its end. The rest is what
/// captures cut, wrap and reword most, while messages that differ at all nearly always differ
/// before it (SignatureAccuracy in signature_test.cpp counts both on any corpus). Applied twice it
/// changes nothing more.
std::string_view first_words(std::string_view title);

}  // namespace mpsprobe
