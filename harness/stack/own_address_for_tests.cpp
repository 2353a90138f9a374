#include "harness/stack/own_address_for_tests.h"

#include <dlfcn.h>
#include <unistd.h>

#include "harness/provenance/macho_header.h"
#include "harness/stack/process_stack.h"
#include "harness/wire/hex.h"

namespace mpsprobe {

FrameAddress own_address(const void* code) {
  const auto address = reinterpret_cast<uint64_t>(code);
#ifdef __APPLE__
  Dl_info info{};
  if (dladdr(code, &info) == 0) return {};
  return {info.dli_fname, hex(read_macho_header(info.dli_fbase).uuid),
          address - reinterpret_cast<uint64_t>(info.dli_fbase)};
#else
  return address_in(getpid(), address);
#endif
}

FrameAddress own_address(const char* function) {
  return own_address(dlsym(RTLD_DEFAULT, function));
}

}  // namespace mpsprobe
