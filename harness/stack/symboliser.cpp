#include "harness/stack/symboliser.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "harness/stack/image_symbols.h"

namespace mpsprobe {
namespace {

// What is remembered is forgotten beyond these numbers: a child can name any number of places.
constexpr size_t kMostPlaces = 1 << 16;
constexpr size_t kMostImages = 2048;
// The longest name in LibTorch has 1,466 characters. Demangling can make a short name, made for it,
// very long.
constexpr size_t kMostMangled = 8192;
constexpr size_t kMostDemangled = 16384;

std::string readable(const std::string& name) {
  std::string text = name.size() > kMostMangled ? "" : demangled(name);
  if (text.empty()) text = name;
  text.resize(std::min(text.size(), kMostDemangled));
  return text;
}

}  // namespace

std::string demangled(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return "";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return text == nullptr ? "" : text.get();
}

Symboliser::Symboliser() = default;
Symboliser::~Symboliser() = default;

std::vector<StackFrame> Symboliser::symbolise(const std::vector<FrameAddress>& addresses) {
  const std::lock_guard lock(mutex_);
  std::vector<StackFrame> stack;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const FrameAddress& address = addresses[i];
    // A return address stands behind the call, which can be the last thing in its function.
    const uint64_t call = i == 0 || address.offset == 0 ? address.offset : address.offset - 1;
    const size_t first = stack.size();
    if (!address.path.empty()) {
      const std::vector<StackFrame>& known = named({address.path, address.image_id}, call);
      stack.insert(stack.end(), known.begin(), known.end());
    }
    if (stack.size() == first) stack.emplace_back();
    for (size_t frame = first; frame < stack.size(); ++frame) {
      stack[frame].image = address.image();
      stack[frame].image_id = address.image_id;
      stack[frame].offset = address.offset;
    }
  }
  return stack;
}

const std::vector<StackFrame>& Symboliser::named(const Image& image, uint64_t offset) {
  const std::pair place(image, offset);
  const auto known = places_.find(place);
  if (known != places_.end()) return known->second;
  std::vector<StackFrame> frames;
  if (ImageSymbols* symbols = symbols_of(image)) frames = symbols->frames_at(offset);
  for (StackFrame& frame : frames) frame.function = readable(frame.function);
  if (places_.size() >= kMostPlaces) places_.clear();
  return places_.emplace(place, std::move(frames)).first->second;
}

ImageSymbols* Symboliser::symbols_of(const Image& image) {
  const auto known = images_.find(image);
  if (known != images_.end()) return known->second.get();
  if (images_.size() >= kMostImages) images_.clear();
  return images_.emplace(image, open_image_symbols(image.first, image.second)).first->second.get();
}

}  // namespace mpsprobe
