# PCRE2, compiled in from its own sources, for programs that run where nobody installed it: wheels, and the cross-build
# for macOS. Target mpsprobe_pcre2, static, with the code for bytes alone, Unicode and the just-in-time compiler.
# MPSPROBE_PCRE2_SOURCE is a folder with its sources as a release has them (tools/fetch-source pcre2 DIR), or "fetch" for
# the release below.
set(_source "${MPSPROBE_PCRE2_SOURCE}")
if(_source STREQUAL "fetch")
  # SOURCE_SUBDIR names no folder: its CMake project builds more than is wanted.
  FetchContent_Declare(pcre2
    URL https://github.com/PCRE2Project/pcre2/releases/download/pcre2-10.42/pcre2-10.42.tar.gz
    URL_HASH SHA256=c33b418e3b936ee3153de2c61cc638e7e4fe3156022a5c77d0711bcbb9d64f1f
    SOURCE_SUBDIR none)
  FetchContent_MakeAvailable(pcre2)
  set(_source "${pcre2_SOURCE_DIR}")
endif()
get_filename_component(_source "${_source}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
if(NOT EXISTS "${_source}/src/pcre2.h.generic")
  message(FATAL_ERROR "MPSPROBE_PCRE2_SOURCE=${MPSPROBE_PCRE2_SOURCE}: no sources of PCRE2, whose release has "
                      "src/pcre2.h.generic. tools/fetch-source pcre2 DIR brings them.")
endif()
enable_language(C)
set(_generated ${PROJECT_BINARY_DIR}/pcre2)
configure_file("${_source}/src/pcre2.h.generic" ${_generated}/pcre2.h COPYONLY)
configure_file("${_source}/src/config.h.generic" ${_generated}/config.h COPYONLY)
configure_file("${_source}/src/pcre2_chartables.c.dist" ${_generated}/pcre2_chartables.c COPYONLY)
file(GLOB _sources "${_source}/src/pcre2_*.c")
# Programs of their own, and what others include.
list(FILTER _sources EXCLUDE REGEX
     "/pcre2_(dftables|fuzzsupport|jit_match|jit_misc|jit_test|printint|printint_inc|ucptables)\\.c$")
add_library(mpsprobe_pcre2 STATIC ${_sources} ${_generated}/pcre2_chartables.c)
target_include_directories(mpsprobe_pcre2 PRIVATE "${_source}/src")
target_include_directories(mpsprobe_pcre2 SYSTEM PUBLIC ${_generated})
target_compile_definitions(mpsprobe_pcre2
  PRIVATE HAVE_CONFIG_H PCRE2_CODE_UNIT_WIDTH=8 SUPPORT_UNICODE SUPPORT_JIT
  PUBLIC PCRE2_STATIC)
# Its warnings are not ours.
target_compile_options(mpsprobe_pcre2 PRIVATE -w)
