#include "harness/signature/function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "harness/signature/ascii.h"
#include "harness/signature/chip_name.h"
#include "harness/signature/cxx_name.h"

namespace mpsprobe {
namespace {

using ascii::digit;
using ascii::lower;
using ascii::upper;

constexpr size_t kLookedAt = 4096;
constexpr size_t kLongestFunction = 120;
constexpr size_t kLongestImage = 80;

// "-[Class(Category) selector:]" without what follows it.
std::string objc_name(std::string_view text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      const size_t close = text.find(')', i);
      if (close == std::string_view::npos) break;
      i = close;
      continue;
    }
    name += text[i];
    if (text[i] == ']') break;
  }
  return name;
}

// The function that a block is written in: "__43-[Class run]_block_invoke.12", "__f_block_invoke".
std::string_view without_block(std::string_view text) {
  constexpr std::string_view kInvoke = "_block_invoke";
  const size_t found = text.find(kInvoke);
  if (found == std::string_view::npos) return text;
  size_t nested = 0;
  for (size_t i = found; text.substr(i).starts_with(kInvoke); i += kInvoke.size()) ++nested;
  std::string_view name = text.substr(0, found);
  for (size_t i = 0; i < 2 * nested && name.starts_with('_'); ++i) name.remove_prefix(1);
  const size_t number = name.find_first_not_of("0123456789");
  if (number != std::string_view::npos && (name[number] == '-' || name[number] == '+')) {
    name.remove_prefix(number);
  }
  return name.empty() ? text.substr(0, found) : name;
}

std::string_view without_lead(std::string_view text) {
  // The image, as lldb writes it: "libtorch_cpu.dylib`at::add".
  const size_t tick = text.find('`');
  if (tick != std::string_view::npos && tick > 0 &&
      std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(tick),
                  [](char c) { return ascii::word(c) || c == '.' || c == '-' || c == '+'; })) {
    text.remove_prefix(tick + 1);
  }
  for (std::string_view lead : {"invocation function for block in ", "partial apply for ",
                                "partial apply forwarder for ", "@objc ", "merged "}) {
    if (text.starts_with(lead)) return text.substr(lead.size());
  }
  while (text.starts_with("closure #")) {
    const size_t in = text.find(" in ");
    if (in == std::string_view::npos) break;
    text.remove_prefix(in + 4);
  }
  if (text.starts_with("generic specialization <")) {
    const size_t of = text.find("> of ");
    if (of != std::string_view::npos) return text.substr(of + 5);
  }
  return text;
}

// Rust's "<Type as Trait>::method" is "Type::method", and Swift's "f.getter : Type" is "f.getter".
std::string without_trait_or_type(std::string_view text) {
  if (const size_t type = text.find(" : "); type != std::string_view::npos) {
    text = text.substr(0, type);
  }
  const size_t as = text.find(" as ");
  if (!text.starts_with('<') || as == std::string_view::npos) return std::string(text);
  const size_t length = bracketed_length(text);
  if (length < as) return std::string(text);
  return std::string(text.substr(1, as - 1)) + std::string(text.substr(length));
}

// libc++ and libstdc++ keep their classes in namespaces that nobody writes.
std::string without_inline_namespaces(std::string text) {
  for (std::string_view space : {"std::__1::", "std::__2::", "std::__cxx11::", "std::__ndk1::"}) {
    for (size_t found = text.find(space); found != std::string::npos;
         found = text.find(space, found + 5)) {
      text.erase(found + 5, space.size() - 5);
    }
  }
  // LibTorch builds its kernels once for each kind of processor.
  for (std::string_view kind :
       {"AVX2::", "AVX512::", "DEFAULT::", "SVE128::", "SVE256::", "VSX::", "ZVECTOR::"}) {
    const std::string scoped = "at::native::" + std::string(kind);
    if (text.starts_with(scoped)) text.erase(scoped.size() - kind.size(), kind.size());
  }
  return text;
}

// "c10::function_ref<...>::callback_fn<loop<at::take_kernel(Pool&)::{lambda()#1}>>(...)": what only
// calls a lambda counts as the function that the lambda is written in.
std::string_view called_lambda(std::string_view text) {
  size_t begin = 0;
  for (std::string_view caller :
       {"::callback_fn<", "at::internal::invoke_parallel<", "at::parallel_for<"}) {
    const size_t found = text.find(caller);
    // Not where it is an argument itself.
    const bool called = found != std::string_view::npos &&
                        text.substr(0, found).find('{') == std::string_view::npos;
    if (called) begin = found + caller.size();
    if (called) break;
  }
  if (begin == 0) return text;
  const size_t lambda = std::min(text.find("::{lambda", begin), text.find("::'lambda", begin));
  if (lambda == std::string_view::npos) return text;
  // The innermost template argument that holds it: back to the bracket that is not closed.
  size_t depth = 0;
  for (size_t i = lambda; i-- > begin;) {
    if (text[i] == '>') ++depth;
    if (text[i] != '<') continue;
    if (depth == 0) return text.substr(i + 1, lambda - i - 1);
    --depth;
  }
  return text.substr(begin, lambda - begin);
}

// As the compiler's own library takes a name apart; empty where it is none of C++'s. Names of
// Rust's older releases are such names too. Long ones nest deeply: they are left as they are.
std::string demangled(std::string_view name) {
  constexpr size_t kLongest = 1024;
  const size_t mangled = name.find("_Z");
  if (mangled > 2 || name.find_first_not_of('_') != mangled + 1 || name.size() > kLongest)
    return "";
  // Without what compilers append to a copy of a function (".cold", ".isra.0"), and the offset.
  const std::string plain(name.substr(mangled, name.find_first_of(". +@") - mangled));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : "";
}

// "core::lanes::take::h0123456789abcdef", as Rust's compiler makes names one of a kind.
std::string_view without_rust_hash(std::string_view name) {
  constexpr size_t kHash = 17;
  const size_t last = name.rfind("::");
  if (last == std::string_view::npos) return name;
  const std::string_view hash = name.substr(last + 2);
  const bool is = hash.size() == kHash && hash[0] == 'h' &&
                  hash.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
  return is ? name.substr(0, last) : name;
}

// What libraries call one of several copies of a function.
std::string_view without_variants(std::string_view text) {
  constexpr std::string_view kAlias = "__GI___libc_";  // glibc's: "__GI___libc_write"
  if (text.starts_with(kAlias)) text.remove_prefix(kAlias.size());
  // macOS's, one for each kind of processor: "_platform_memmove$VARIANT$Rosetta".
  return text.substr(0, text.find("$VARIANT$"));
}

std::string one_pass(std::string_view text) {
  text = called_lambda(without_lead(without_block(without_variants(text))));
  const bool objc = text.starts_with("-[") || text.starts_with("+[");
  const std::string other = objc ? std::string() : without_trait_or_type(text);
  std::string name = objc ? objc_name(text) : cxx_name(without_rust_hash(other));
  return without_inline_namespaces(without_chip(name));
}

// "libfoo.so.1.2" and "libfoo.1.2.dylib" without their versions, "core.cpython-314-darwin.so"
// without Python's.
std::string without_version(std::string name) {
  if (const size_t so = name.find(".so."); so != std::string::npos) name.resize(so + 3);
  if (const size_t python = name.find(".cpython-"); python != std::string::npos) {
    const size_t end = name.find('.', python + 1);
    name.erase(python, end == std::string::npos ? end : end - python);
  }
  constexpr std::string_view kLibrary = ".dylib";
  if (name.ends_with(kLibrary)) {
    std::string stem = name.substr(0, name.size() - kLibrary.size());
    for (size_t dot = stem.rfind('.'); dot != std::string::npos && dot > 0; dot = stem.rfind('.')) {
      if (stem.find_first_not_of("0123456789", dot + 1) != std::string::npos) break;
      stem.resize(dot);
    }
    name = stem + std::string(kLibrary);
  }
  return name;
}

// One line of printable ASCII, without spaces at its ends.
std::string printable_ascii(std::string_view text) {
  std::string result;
  for (char c : text) {
    const char kept = c > 0x20 && c < 0x7f ? c : ' ';
    if (kept == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += kept;
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

bool stand_in(std::string_view name) {
  return name.empty() || digit(name[0]) || name.starts_with("??") ||
         name.starts_with("___lldb_unnamed_symbol") || name.starts_with("_mh_execute_header") ||
         name.starts_with("_mh_dylib_header") || name.starts_with("_mh_bundle_header") ||
         std::none_of(name.begin(), name.end(), [](char c) { return upper(c) || lower(c); });
}

}  // namespace

std::string normalise_function(std::string_view function) {
  std::string name = printable_ascii(function.substr(0, kLookedAt));
  if (std::string plain = demangled(name); !plain.empty()) name = printable_ascii(plain);
  constexpr std::string_view kShared = "<deduplicated_symbol>";
  if (name.starts_with(kShared)) return std::string(kShared);
  name = printable_ascii(one_pass(name));
  if (name.size() > kLongestFunction) name.resize(kLongestFunction);
  return stand_in(name) ? std::string() : name;
}

std::string normalise_image(std::string_view image) {
  std::string name = printable_ascii(image.substr(0, kLookedAt));
  name = printable_ascii(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
  name = printable_ascii(without_chip(without_version(name)));
  if (name.size() > kLongestImage) name.resize(kLongestImage);
  return name;
}

}  // namespace mpsprobe
