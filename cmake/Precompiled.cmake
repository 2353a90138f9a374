# The headers that most sources include, read once for a whole build. Where next to nothing is optimised, reading them is
# about a third of clang's time. A header that was read for all hides that a source forgot to include what it uses:
# the preset dev and tools/check-tidy read each for itself.

# mpsprobe_precompile(): for every target of C++ alone
function(mpsprobe_precompile)
  get_property(targets GLOBAL PROPERTY MPSPROBE_TARGETS)
  set(headers <nlohmann/json.hpp> <fmt/format.h> <algorithm> <filesystem> <fstream> <functional> <map> <memory>
              <optional> <set> <string> <vector>)
  set(libraries nlohmann_json::nlohmann_json mpsprobe::fmt Threads::Threads)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp "")
  set(names mpsprobe_precompiled)
  if(MPSPROBE_BUILD_TESTS)
    list(APPEND names mpsprobe_precompiled_tests)
  endif()
  foreach(name IN LISTS names)
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
    mpsprobe_target_defaults(${name})
    target_link_libraries(${name} PRIVATE ${libraries})
    if(name MATCHES "tests$")
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
      target_link_libraries(${name} PRIVATE GTest::gmock)
    endif()
    target_precompile_headers(${name} PRIVATE ${headers})
  endforeach()
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
    get_target_property(options ${target} COMPILE_OPTIONS)
    # LibTorch comes with definitions of its own; and what was read without optimisation is none for what is optimised.
    if(visibility OR "${sources}" MATCHES "\\.mm?(;|$)" OR "${libraries}" MATCHES "LibTorch" OR "${options}" MATCHES "-O[12]")
      continue()
    endif()
    # clang takes no headers that were read for a library into a program that is none.
    if(kind STREQUAL EXECUTABLE)
      target_compile_options(${target} PRIVATE -fPIC)
      target_link_libraries(${target} PRIVATE mpsprobe::fmt) # which it calls now, if it includes it or not
    endif()
    if("GTest::gtest_main" IN_LIST libraries)
      target_precompile_headers(${target} REUSE_FROM mpsprobe_precompiled_tests)
    else()
      target_precompile_headers(${target} REUSE_FROM mpsprobe_precompiled)
    endif()
  endforeach()
endfunction()
