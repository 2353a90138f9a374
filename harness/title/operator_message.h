#pragma once

#include <string>

namespace mpsprobe {

/// What PyTorch says of an operator, as all of its releases would say it: a call that was refused
/// for its arguments in whatever way ("addmm() missing 1 required positional argument" is
/// "addmm() received an invalid combination of arguments"), a kernel by its operator's name
/// ("addmm_impl_cpu_ not implemented for" is "addmm not implemented for"), and without the operator
/// that newer releases put in front of a product's message ("mm: self must be a matrix"). `text` is
/// normalised. Of use until it changes nothing more. Never throws but for lack of memory; may be
/// called from any thread.
std::string usual_operator_message(std::string text);

}  // namespace mpsprobe
