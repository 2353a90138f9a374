#include "harness/wire/honoured_axes.h"

#include <dlfcn.h>

#include <array>

#include "harness/wire/split.h"

namespace mpsprobe {
namespace {

constexpr std::array<std::string_view, 7> kRunner{"backend",  "op",  "path",      "processes",
                                                  "lifetime", "env", "validation"};

// The last one where it is true alone.
constexpr std::array<std::string_view, 14> kLoop{
    "threads", "iterations", "init",   "warmup", "start", "meet", "sync",
    "lock",    "throttle",   "beside", "churn",  "stack", "end",  "sanitizer"};

}  // namespace

std::span<const std::string_view> runner_axes() {
  return kRunner;
}

std::span<const std::string_view> loop_axes() {
  return std::span(kLoop).first(kLoop.size() - (under_thread_sanitizer() ? 0 : 1));
}

// A worker's own code may be compiled for it, and not this library.
bool under_thread_sanitizer() {
  return dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

std::vector<std::string_view> lane_axes(Backend backend) {
  const std::string_view axes = info_of(backend).axes;
  return axes.empty() ? std::vector<std::string_view>() : split(axes, ' ');
}

std::vector<std::string_view> honoured_axes(Backend backend) {
  std::vector<std::string_view> names(loop_axes().begin(), loop_axes().end());
  for (const std::string_view name : lane_axes(backend)) names.push_back(name);
  return names;
}

}  // namespace mpsprobe
