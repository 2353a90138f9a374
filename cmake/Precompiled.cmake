# The headers that most sources include, read once for a whole build. With sanitizers, where next to nothing is
# optimised, reading them is about a third of the compiler's time. A header that was read for all hides that a source forgot to include
# what it uses, so the builds that people run have none: MPSPROBE_PRECOMPILE is for the sanitizers' presets.
include(TargetsBelow)

# _mpsprobe_precompiled(<name> HEADERS ... LIBRARIES ...): what other targets take theirs from
function(_mpsprobe_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBRARIES" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  mpsprobe_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# mpsprobe_precompile(): for every target of C++ alone
function(mpsprobe_precompile)
  set(headers <nlohmann/json.hpp> <fmt/format.h> <algorithm> <filesystem> <fstream> <functional> <map> <memory>
              <optional> <set> <string> <vector>)
  set(libraries nlohmann_json::nlohmann_json mpsprobe::fmt Threads::Threads)
  mpsprobe_targets_below(${PROJECT_SOURCE_DIR} targets)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
  _mpsprobe_precompiled(mpsprobe_precompiled HEADERS ${headers} LIBRARIES ${libraries})
  if(MPSPROBE_BUILD_TESTS)
    _mpsprobe_precompiled(mpsprobe_precompiled_tests HEADERS ${headers} <gmock/gmock.h> <gtest/gtest.h>
                          LIBRARIES ${libraries} GTest::gmock GTest::gtest)
  endif()
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
    if(NOT kind MATCHES "LIBRARY|EXECUTABLE" OR kind STREQUAL INTERFACE_LIBRARY OR visibility
       OR "${sources}" MATCHES "\\.mm?(;|$)")
      continue()
    endif()
    # clang takes no headers that were read for a library into a program that is none.
    if(kind STREQUAL EXECUTABLE)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
    if("GTest::gtest_main" IN_LIST libraries)
      target_precompile_headers(${target} REUSE_FROM mpsprobe_precompiled_tests)
    else()
      target_precompile_headers(${target} REUSE_FROM mpsprobe_precompiled)
    endif()
  endforeach()
endfunction()
