#include "harness/stack/symboliser.h"

#include <cxxabi.h>

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <map>
#include <mutex>
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

struct Place {
  std::string path;
  std::string image_id;
  uint64_t offset = 0;
  auto operator<=>(const Place&) const = default;
};

}  // namespace

std::string demangled(const std::string& mangled) {
  if (!mangled.starts_with("_Z")) return "";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return text == nullptr ? "" : text.get();
}

class Symboliser::Implementation {
 public:
  std::vector<StackFrame> symbolise(const std::vector<FrameAddress>& addresses) {
    const std::lock_guard lock(mutex_);
    std::vector<StackFrame> stack;
    for (size_t i = 0; i < addresses.size(); ++i) {
      const FrameAddress& address = addresses[i];
      // A return address stands behind the call, which can be the last thing in its function.
      const uint64_t call = i == 0 || address.offset == 0 ? address.offset : address.offset - 1;
      const size_t first = stack.size();
      if (!address.path.empty()) {
        const std::vector<StackFrame>& known = named({address.path, address.image_id, call});
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

 private:
  const std::vector<StackFrame>& named(Place place) {
    const auto known = places_.find(place);
    if (known != places_.end()) return known->second;
    std::vector<StackFrame> frames;
    if (ImageSymbols* image = symbols_of(place.path, place.image_id)) {
      frames = image->frames_at(place.offset);
    }
    for (StackFrame& frame : frames) frame.function = readable(frame.function);
    if (places_.size() >= kMostPlaces) places_.clear();
    return places_.emplace(std::move(place), std::move(frames)).first->second;
  }

  ImageSymbols* symbols_of(const std::string& path, const std::string& image_id) {
    const auto key = std::pair(path, image_id);
    const auto known = images_.find(key);
    if (known != images_.end()) return known->second.get();
    if (images_.size() >= kMostImages) images_.clear();
    return images_.emplace(key, open_image_symbols(path, image_id)).first->second.get();
  }

  std::mutex mutex_;
  // Null for an image that cannot be used: the file is not looked at again.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ImageSymbols>> images_;
  std::map<Place, std::vector<StackFrame>> places_;
};

Symboliser::Symboliser() : implementation_(std::make_unique<Implementation>()) {}
Symboliser::~Symboliser() = default;

std::vector<StackFrame> Symboliser::symbolise(const std::vector<FrameAddress>& addresses) {
  return implementation_->symbolise(addresses);
}

}  // namespace mpsprobe
