#include "harness/title/element_type.h"

#include <algorithm>
#include <iterator>

#include "harness/text/ascii.h"

namespace mpsprobe {
namespace {

using ascii::at;
using ascii::is_one_of;
using ascii::word_length;

// torch.float16, c10::Half, torch.cuda.FloatTensor, float.
size_t one_type_length(std::string_view text) {
  size_t begin = 0;
  for (std::string_view scope :
       {"torch.cuda.", "torch.mps.", "torch.", "c10::", "at::", "np.", "numpy.", "jnp."}) {
    if (text.starts_with(scope)) {
      begin = scope.size();
      break;
    }
  }
  const size_t length = word_length(text.substr(begin));
  constexpr std::string_view kScoped[] = {"bool", "double", "half", "int", "long", "short"};
  if (begin > 0 && is_one_of(text.substr(begin, length), kScoped)) return begin + length;
  return is_element_type(text.substr(begin, length)) ? begin + length : 0;
}

// "long", "unsigned int", "long long int": gcc says "long int" where clang says "long".
size_t c_type_length(std::string_view text) {
  constexpr std::string_view kParts[] = {"unsigned", "signed", "long",   "short", "int",
                                         "char",     "float",  "double", "bool"};
  size_t end = 0;
  for (size_t next = 0;;) {
    const size_t length = word_length(text.substr(next));
    if (!is_one_of(text.substr(next, length), kParts)) return end;
    end = next + length;
    if (at(text, end) != ' ') return end;
    next = end + 1;
  }
}

// "implemented for 'Long'", "scalar type Int but found Double": words that are types only there.
size_t named_type_length(std::string_view text, std::string_view before) {
  constexpr std::string_view kNames[] = {"Byte", "Char", "Short", "Int",   "Long",
                                         "Bool", "Half", "Float", "Double"};
  constexpr std::string_view kWords[] = {"int", "long", "short", "double", "bool"};
  constexpr std::string_view kLeads[] = {"implemented for ", "scalar type ",  "but found ",
                                         "but got ",         "to type ",      "dtype ",
                                         "dtypes ",          " != ",          " == ",
                                         "bounds for ",      "dtype: ",       "scalar_type() ",
                                         " supported for ",  "unrecognized ", "convert ",
                                         "type const ",      "for type "};
  // Where a word in lower case may be none: "as long as".
  constexpr std::string_view kLeadsOfNames[] = {
      " as ",       " view ",      "type ",  "got ",  "to output ", "<type>, ",
      "<type> or ", "<type> and ", "got: ",  "Got: ", "expected ",  "Expected ",
      "found ",     "dtype: ",     "type: ", "to be "};
  // Of the interpreter's values.
  constexpr std::string_view kValues[] = {
      "Bool",       "BoolList", "Capsule",     "ComplexDouble", "Device", "Double",
      "DoubleList", "Future",   "GenericDict", "GenericList",   "Int",    "IntList",
      "None",       "Object",   "String",      "TensorList",    "Tuple"};
  while (before.ends_with('\'')) before.remove_suffix(1);
  if (before.ends_with("Expected Tensor but got ")) {
    const size_t value = word_length(text);
    if (is_one_of(text.substr(0, value), kValues)) return value;
  }
  const auto in_front = [&](std::string_view lead) { return before.ends_with(lead); };
  const bool type = std::any_of(std::begin(kLeads), std::end(kLeads), in_front);
  const bool name =
      type || std::any_of(std::begin(kLeadsOfNames), std::end(kLeadsOfNames), in_front);
  const size_t length = word_length(text);
  const std::string_view word = text.substr(0, length);
  const std::string_view behind = text.substr(length);
  // "supported:Bool"; "at::Half" is whole.
  const bool glued = before.ends_with(':') && !before.ends_with("::");
  const bool alone = (before.ends_with('(') && behind.starts_with(')')) ||
                     behind.starts_with(" object ") || behind.starts_with("' object ");
  const bool named = (name || alone || glued) && is_one_of(word, kNames);
  // Within a sentence no other word begins with a capital so: "convert a lane to Long here".
  const bool within =
      before.size() > 1 && before.back() == ' ' &&
      (ascii::lower(before[before.size() - 2]) ||
       std::string_view(",:>)").find(before[before.size() - 2]) != std::string_view::npos);
  const bool token =
      behind.empty() || std::string_view(" ,.;:)!").find(behind[0]) != std::string_view::npos;
  if (within && token && is_one_of(word, kNames)) return length;
  // "double", not "long", which is a word as well; an exception's type tells bugs apart.
  const bool plain = name && (word == "int" || word == "double" || word == "bool") &&
                     !before.ends_with("exception of type ");
  if (type && is_one_of(word, kWords)) return c_type_length(text);
  if (before.ends_with("for type ") || before.ends_with("of type ")) {
    // "char" alone, and "of type unsigned ...", no words of a sentence.
    if (const size_t parts = c_type_length(text); parts > length) return parts;
  }
  return named || plain || (alone && is_one_of(word, kWords)) ? length : 0;
}

// "CPUFloatType", "SparseCUDALongType"
bool is_tensor_type(std::string_view name) {
  constexpr std::string_view kElements[] = {"Bool", "Byte", "Char",  "Short",    "Int",
                                            "Long", "Half", "Float", "BFloat16", "Double"};
  constexpr std::string_view kBackends[] = {"CPU", "CUDA", "MPS", "XPU", "Meta", "HIP"};
  name.remove_suffix(4);
  if (name.starts_with("Sparse")) name.remove_prefix(6);
  for (std::string_view backend : kBackends) {
    if (!name.starts_with(backend)) continue;
    name.remove_prefix(backend.size());
    if (name.starts_with("Complex")) name.remove_prefix(7);
    return is_one_of(name, kElements);
  }
  return false;
}

}  // namespace

// "i1" and "v2" are none.
bool is_element_size(std::string_view digits) {
  constexpr std::string_view kSizes[] = {"2", "3", "4", "5", "6", "8", "16", "32", "64", "128"};
  return is_one_of(digits, kSizes);
}

bool is_element_type(std::string_view name) {
  if (name.ends_with("_t")) name.remove_suffix(2);
  if (name.starts_with("MPS") && name.ends_with("Type")) {
    name.remove_prefix(3);
    name.remove_suffix(4);
  } else if (name.ends_with("Type") && is_tensor_type(name)) {
    return true;
  } else if (name.starts_with("MPSDataType")) {
    name.remove_prefix(11);
  } else if (name.ends_with("Tensor") && name.size() > 6) {
    name.remove_suffix(6);
    constexpr std::string_view kOfTensors[] = {"Double", "Long", "Byte", "Char",
                                               "Short",  "Int",  "Bool"};
    if (is_one_of(name, kOfTensors)) return true;
  }
  constexpr std::string_view kWhole[] = {"float",         "Float",       "Half",   "ComplexFloat",
                                         "ComplexDouble", "ComplexHalf", "bfloat", "tf32"};
  if (is_one_of(name, kWhole)) return true;
  constexpr std::string_view kKinds[] = {"float", "Float", "bfloat", "BFloat",  "Bfloat",  "int",
                                         "Int",   "uint",  "UInt",   "si",      "ui",      "i",
                                         "u",     "f",     "bf",     "complex", "Complex", "fp"};
  const size_t letters = std::min(name.find_first_of("0123456789"), name.size());
  return is_one_of(name.substr(0, letters), kKinds) && is_element_size(name.substr(letters));
}

size_t element_type_length(std::string_view text, std::string_view before) {
  size_t end = named_type_length(text, before);
  if (end == 0 && !before.ends_with('<')) end = one_type_length(text);
  while (end > 0 && at(text, end) == '/') {
    const size_t more = one_type_length(text.substr(end + 1));
    if (more == 0) break;
    end += 1 + more;
  }
  if (end == 0) return end;
  // "float32[2,3]", "int [4][8]"
  const bool apart = text.substr(end).starts_with(" [") && ascii::digit(at(text, end + 2));
  for (size_t open = apart ? end + 1 : end; at(text, open) == '['; open = end) {
    const size_t close = std::min(text.find_first_not_of("0123456789,N", open + 1), text.size());
    if (at(text, close) != ']') break;
    end = close + 1;
  }
  return end;
}

}  // namespace mpsprobe
