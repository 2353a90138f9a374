#ifdef __APPLE__
#include "harness/process/descendants.h"

namespace mpsprobe {

std::string mark_for_descendants() {
  return "MPSPROBE_PROCESS=1";
}

bool takes_orphans() {
  return false;
}

size_t end_descendants(const std::string&) {
  return 0;
}

}  // namespace mpsprobe
#endif
