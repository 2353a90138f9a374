// A library that tests load late, after the images were noted, and that reads a variable.
#include <cstdlib>

extern "C" int late_function() {
  return std::getenv("MPSPROBE_LATE_VARIABLE") == nullptr ? 1 : 2;
}
