// Preloaded into a program: its control arm dies, and nothing else of it.
#include <cstdlib>
#include <cstring>

namespace {
[[gnu::constructor]] void die_in_the_control_arm() {
  const char* const arm = std::getenv("REPRODUCER_ARM");
  if (arm != nullptr && std::strcmp(arm, "1") == 0) std::abort();
}
}  // namespace
