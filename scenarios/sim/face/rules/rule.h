#pragma once

#include <span>
#include <string>

namespace mpsprobe::metal_rules {

/// One rule of Metal's, with a way to break it and a way to do the same work without. Static
/// storage.
struct Rule {
  const char* name;
  const char* misuse;      ///< what `breaks` does
  const char* documented;  ///< what Apple's documentation says, in our words
  const char* address;     ///< where it says so
  bool apples_text;        ///< Apple's wording, known from public reports; false: ours
  const char* text;        ///< the line on stderr that ends a process which breaks the rule
  void (*breaks)();        ///< returns where nothing enforces the rule
  std::string (*keeps)();  ///< empty where everything came out right, otherwise what did not
};

/// The rules, a group a file. Any thread.
std::span<const Rule> command_buffer_rules();
std::span<const Rule> encoder_rules();
std::span<const Rule> pipeline_rules();
std::span<const Rule> memory_rules();
std::span<const Rule> thread_rules();
std::span<const Rule> graph_rules();

}  // namespace mpsprobe::metal_rules
