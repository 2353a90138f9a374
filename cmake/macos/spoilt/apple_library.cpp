// Apple's libc++ of Xcode 15 has no std::ostringstream::view(), which zig's newer one has.
#include <sstream>

int main() {
  std::ostringstream text;
  text << 1;
#ifdef MPSPROBE_SPOILT
  return static_cast<int>(text.view().size());
#else
  return static_cast<int>(text.str().size());
#endif
}
