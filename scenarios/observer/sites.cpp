#include "scenarios/observer/sites.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

namespace mpsprobe::observer {
namespace {

constexpr const char* kTorchImages[] = {"/libtorch", "/libc10", "/libmpsprobe_stand_in"};
constexpr const char* kFrameworks[] = {
    "/System/Library/", "/usr/lib/system/",  "libmpsprobe_metal_face",
    "/libobjc.",        "/libgnustep-base.", "/libstdc++.",
    "/libc++",          "/libc.so",          "/libpthread",
    "/ld-linux",        "/usr/lib/dyld"};

/// Where this library lies, whatever its file is called.
const void* own_image() {
  static const void* const base = [] {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(&own_image), &info) == 0 ? nullptr : info.dli_fbase;
  }();
  return base;
}

template <size_t N>
bool is_one_of(std::string_view path, const char* const (&names)[N]) {
  return std::any_of(std::begin(names), std::end(names), [path](const char* each) {
    return path.find(each) != std::string_view::npos;
  });
}

Whose whose(const Dl_info& image) {
  const std::string_view path = image.dli_fname == nullptr ? "" : image.dli_fname;
  if (image.dli_fbase == own_image() || is_one_of(path, kFrameworks)) return Whose::framework;
  return is_one_of(path, kTorchImages) ? Whose::torch : Whose::program;
}

NamedFrame name_of(uintptr_t address) {
  Dl_info info{};
  NamedFrame frame;
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  frame.function = text;
  // A return address may lie behind the last instruction of the function.
  if (dladdr(pointer(address - 1), &info) == 0) return frame;
  const std::string_view path = info.dli_fname == nullptr ? "" : info.dli_fname;
  frame.image = path.substr(path.rfind('/') + 1);
  frame.framework = whose(info) != Whose::program;
  if (info.dli_sname != nullptr) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
    frame.function = status == 0 ? plain.get() : info.dli_sname;
  } else {
    // From the image on: what addr2line and atos take.
    std::snprintf(
        text, sizeof(text), "+0x%llx",
        static_cast<unsigned long long>(address - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase)));
    frame.function = text;
  }
  return frame;
}

uintptr_t plain(uintptr_t address) {
#if defined(__APPLE__) && defined(__aarch64__)
  return address & ((uintptr_t{1} << 47U) - 1);  // without the signature
#else
  return address;
#endif
}

}  // namespace

Site site_of(const Frame& frame, uint32_t thread, uintptr_t stack_end) {
  Site site;
  site.thread = thread;
  site.frames[0] = plain(frame.return_address);
  auto lowest = reinterpret_cast<uintptr_t>(frame.stack);
  uintptr_t next = frame.caller;
  for (size_t i = 1; i < Site::kFrames; ++i) {
    if (next % sizeof(uintptr_t) != 0 || next < lowest || next + 2 * sizeof(uintptr_t) > stack_end)
      break;
    const auto* const record = static_cast<const uintptr_t*>(pointer(next));
    if (record[1] == 0) break;
    site.frames[i] = plain(record[1]);
    lowest = next + sizeof(uintptr_t);
    next = record[0];
  }
  return site;
}

uintptr_t end_of_stack() {
#ifdef __APPLE__
  return reinterpret_cast<uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
#else
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t size = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return failed != 0 ? 0 : reinterpret_cast<uintptr_t>(lowest) + size;
#endif
}

Whose whose(uintptr_t address) {
  Dl_info info{};
  return dladdr(pointer(plain(address) - 1), &info) == 0 ? Whose::unknown : whose(info);
}

bool has_caller(const Site& site) {
  for (const uintptr_t address : site.frames) {
    if (address == 0) break;
    const NamedFrame frame = name_of(address);
    if (!frame.image.empty() && !frame.framework) return true;
  }
  return false;
}

Site unwound_callers(const Site& site) {
  struct Walk {
    Site found;
    size_t count = 0;
  } walk;
  walk.found.thread = site.thread;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto& to = *static_cast<Walk*>(data);
        const uintptr_t address = plain(_Unwind_GetIP(context));
        if (address == 0 || to.count == Site::kFrames) return _URC_END_OF_STACK;
        const NamedFrame frame = name_of(address);
        if (!frame.image.empty() && !frame.framework) to.found.frames[to.count++] = address;
        return _URC_NO_REASON;
      },
      &walk);
  return walk.count == 0 ? site : walk.found;
}

std::vector<NamedFrame> named(const Site& site) {
  std::vector<NamedFrame> all;
  std::vector<NamedFrame> callers;
  for (const uintptr_t address : site.frames) {
    if (address == 0) break;
    all.push_back(name_of(address));
    // A chain through code without frame pointers ends in what is no code.
    if (all.back().image.empty() && all.size() > 1) {
      all.pop_back();
      break;
    }
    if (!all.back().framework) callers.push_back(all.back());
  }
  return callers.empty() ? all : callers;
}

}  // namespace mpsprobe::observer
