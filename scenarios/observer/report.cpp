#include "scenarios/observer/report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/wire/write_all.h"

namespace mpsprobe::observer {
namespace {

constexpr size_t kMost = 100;
// Frames that a person reads; the file has all.
constexpr size_t kShown = 3;

struct Said {
  std::mutex mutex;
  std::set<std::pair<RuleId, uintptr_t>> places;
  size_t proofs = 0;
  size_t suspicions = 0;
  bool ended = false;
  void (*teller)(int, const char*, void*) = nullptr;
  void* context = nullptr;
};

Said& said() {
  static auto* const all = new Said;
  return *all;
}

// A new descriptor each time: the program may close all that it does not know.
void append_to_report(const std::string& line) {
  const char* const path = std::getenv("MPSPROBE_OBSERVER_REPORT");
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  write_all(file, line);
  close(file);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      out += '\\';
      out += each;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(byte));
      out += code;
    } else {
      out += each;
    }
  }
  out += '"';
  return out;
}

std::string in_json(const Site& site) {
  std::string out = "{\"thread\":" + std::to_string(site.thread) + ",\"frames\":[";
  bool first = true;
  for (const NamedFrame& frame : named(site)) {
    if (!std::exchange(first, false)) out += ',';
    out += "{\"function\":" + quoted(frame.function) + ",\"image\":" + quoted(frame.image) + '}';
  }
  return out + "]}";
}

std::string in_words(const char* what, const Site& site) {
  std::string out = std::string("  ") + what + " (thread " + std::to_string(site.thread) + ")\n";
  const std::vector<NamedFrame> frames = named(site);
  for (size_t i = 0; i < std::min(frames.size(), kShown); ++i) {
    out += "    " + frames[i].function;
    if (!frames[i].image.empty()) out += " in " + frames[i].image;
    out += '\n';
  }
  return out;
}

}  // namespace

void say_broken(RuleId rule, const Object& object, const char* selector, const Site& here,
                const Earlier& earlier) {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  if (all.places.size() >= kMost || !all.places.emplace(rule, here.frames[0]).second) return;
  const RuleText& text = text_of(rule);
  ++(text.proof ? all.proofs : all.suspicions);
  const char* const kind = text.proof ? "misuse" : "suspicion";
  char address[32];
  std::snprintf(
      address, sizeof(address), "0x%llx",
      static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(object.address.load())));
  std::string words = std::string(text.name) + ": " + text.broken + "\n  -[" + object.class_name +
                      ' ' + selector + "], " + word(object.role) + ' ' + address + '\n' +
                      in_words("called here", here);
  const bool has_earlier = earlier.site != nullptr && earlier.site->thread != 0;
  if (has_earlier) words += in_words(earlier.what, *earlier.site);
  words += std::string("  rule: ") + text.rule + " (" + text.address + ")\n  mend: " + text.remedy +
           '\n';
  if (all.teller != nullptr) {
    all.teller(text.proof ? 1 : 0, words.c_str(), all.context);
  } else {
    write_all(STDERR_FILENO, std::string("mpsprobe observer: ") + kind + ": " + words);
  }
  std::string line = std::string("{\"kind\":\"") + kind + "\",\"rule\":\"" + text.name +
                     "\",\"broken\":" + quoted(text.broken) +
                     ",\"class\":" + quoted(object.class_name) + ",\"object\":\"" +
                     word(object.role) + "\",\"address\":\"" + address +
                     "\",\"selector\":" + quoted(selector) + ",\"here\":" + in_json(here);
  if (has_earlier) {
    line += std::string(",\"earlier\":{\"what\":\"") + earlier.what +
            "\",\"site\":" + in_json(*earlier.site) + '}';
  }
  append_to_report(line + ",\"says\":" + quoted(text.rule) + ",\"mend\":" + quoted(text.remedy) +
                   ",\"source\":\"" + text.address + "\"}\n");
}

void tell(void (*finding)(int, const char*, void*), void* context) {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  all.teller = finding;
  all.context = context;
}

void say_begin() {
  append_to_report("{\"kind\":\"begin\"}\n");
}

void say_end() {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  if (std::exchange(all.ended, true)) return;
  append_to_report("{\"kind\":\"end\",\"calls\":" + std::to_string(calls_observed()) +
                   ",\"proofs\":" + std::to_string(all.proofs) +
                   ",\"suspicions\":" + std::to_string(all.suspicions) + "}\n");
}

}  // namespace mpsprobe::observer
