# What the cross-build is made of, whoever configures it (cmake -C).
#
# Not optimised: it has to compile and to link, in as little time as may be, and what is not optimised away
# shows more undefined symbols, not fewer.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g0" CACHE STRING "")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g0" CACHE STRING "")
set(CMAKE_OBJCXX_FLAGS_DEBUG "-O0 -g0" CACHE STRING "")
set(MPSPROBE_WARNINGS_AS_ERRORS ON CACHE BOOL "")
set(MPSPROBE_PRECOMPILE ON CACHE BOOL "")
set(MPSPROBE_FETCH OFF CACHE BOOL "")
# A Mac has no PCRE2.
set(MPSPROBE_PCRE2_SOURCE .deps/macos/pcre2 CACHE STRING "")
set(CMAKE_PROJECT_mpsprobe_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/project.cmake CACHE FILEPATH "")
