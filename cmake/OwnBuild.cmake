# Writes OUTPUT, a source that says which build of mpsprobe it is part of: the commit that SOURCE is at, and BUILT, how
# it was compiled. Run at each build, since a commit changes without a source; written only where it changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
                OUTPUT_VARIABLE top ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
set(commit "")
file(REAL_PATH "${SOURCE}" source)
# Unpacked within the checkout of something else, its commit would be that one's.
if(top STREQUAL source)
  execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=12 --dirty=\ with\ changes
                  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT commit)
  set(commit "no commit known")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "harness/provenance/own_build.h"

namespace mpsprobe {

std::string_view own_build() {
  return "@commit@, @BUILT@";
}

}  // namespace mpsprobe
]])
