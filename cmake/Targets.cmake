# How every target of the project is compiled.
include(Unity)
function(mpsprobe_target_defaults target)
  set_property(GLOBAL APPEND PROPERTY MPSPROBE_TARGETS ${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  # Declarations of Apple's frameworks use what the language has only as an extension.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Warns of overlapping copies inside std::string's own operator+ (GCC bug 105651).
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
  target_compile_definitions(${target} PRIVATE MPSPROBE_VERSION="${PROJECT_VERSION}")
  if(MPSPROBE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Evidence tells builds apart by their ids, and not every compiler asks for one by itself.
  target_link_options(${target} PRIVATE $<$<PLATFORM_ID:Linux>:-Wl,--build-id>)
  if(MPSPROBE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${MPSPROBE_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_compile_definitions(${target} PRIVATE MPSPROBE_SANITIZED)
    target_link_options(${target} PRIVATE -fsanitize=${MPSPROBE_SANITIZE})
  endif()
endfunction()

# mpsprobe_sources(<list> [TESTS] <folder>...): the C++ sources below these folders, or those of their tests. A new one is
# found at the next build.
function(mpsprobe_sources list)
  cmake_parse_arguments(ARG "TESTS" "" "" ${ARGN})
  list(TRANSFORM ARG_UNPARSED_ARGUMENTS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${patterns})
  list(FILTER sources EXCLUDE REGEX "/testdata/|_(fuzz|bench)\\.cpp$")
  set(which EXCLUDE)
  if(ARG_TESTS)
    set(which INCLUDE)
  endif()
  list(FILTER sources ${which} REGEX "_(test|for_tests)\\.cpp$")
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

# mpsprobe_library(<name> [SHARED] [HIDDEN] SOURCES ... [LIBRARIES ...] [PRIVATE <library>...]): static library, alias
# mpsprobe::<name>. HIDDEN, for what is loaded into programs of others: what it is made of stays invisible there. PRIVATE
# is what only it sees.
function(mpsprobe_library name)
  cmake_parse_arguments(ARG "SHARED;HIDDEN" "" "SOURCES;LIBRARIES;PRIVATE" ${ARGN})
  set(kind STATIC)
  if(ARG_SHARED)
    set(kind SHARED)
  endif()
  add_library(mpsprobe_${name} ${kind} ${ARG_SOURCES})
  add_library(mpsprobe::${name} ALIAS mpsprobe_${name})
  mpsprobe_target_defaults(mpsprobe_${name})
  mpsprobe_unity(mpsprobe_${name})
  target_link_libraries(mpsprobe_${name} PUBLIC ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE})
  if(ARG_HIDDEN)
    set_target_properties(mpsprobe_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# mpsprobe_optimise(<target>): a little, where all else is not.
function(mpsprobe_optimise target)
  if(MPSPROBE_QUICK_BUILD)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# mpsprobe_program(<name> SOURCES ... [LIBRARIES ...])
function(mpsprobe_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  mpsprobe_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
endfunction()

# mpsprobe_remove_tested_elsewhere(<list>): takes tests out of a list of sources that another build has run as they are:
# those that do not tell one build from another, by a condition, by LibTorch or by how long a series is.
function(mpsprobe_remove_tested_elsewhere list)
  foreach(source IN LISTS ${list})
    file(STRINGS ${source} differs REGEX "^#if.*MPSPROBE_|MPSPROBE_TEST_TORCH|test_series\\.h" LIMIT_COUNT 1)
    if(source MATCHES "_test\\.cpp$" AND NOT differs)
      list(REMOVE_ITEM ${list} ${source})
    endif()
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# mpsprobe_test(<name> [ONE_PROCESS] [ONE_THREAD] [LONG] SOURCES ... [LIBRARIES ...] [NEEDS <target>...]
# [DEFINES <definition>...]): GoogleTest program, built after what it NEEDS, its tests known to CTest, which starts it for
# each. ONE_PROCESS, for what takes long to start, such as LibTorch: CTest knows the program alone and runs all its tests
# at once; how many there were is in Testing/<name>.xml. So it is where the programs are another machine's, which
# CMAKE_CROSSCOMPILING_EMULATOR runs there. ONE_THREAD, for what starts no thread, nor a program of ours with threads that
# program_test does not have: ThreadSanitizer has nothing to see in it and leaves it out. LONG, for what would keep one
# processor busy at the end: its tests begin before all others.
function(mpsprobe_test name)
  cmake_parse_arguments(ARG "ONE_PROCESS;ONE_THREAD;LONG" "" "SOURCES;LIBRARIES;NEEDS;DEFINES" ${ARGN})
  # No test takes as long but on a machine that compiles beside it.
  set(schedule TIMEOUT 300)
  if(ARG_LONG)
    set(schedule TIMEOUT 600 COST 100)
  endif()
  if(NOT MPSPROBE_BUILD_TESTS OR (ARG_ONE_THREAD AND MPSPROBE_SANITIZE STREQUAL "thread"))
    return()
  endif()
  if(name IN_LIST MPSPROBE_TESTED_ELSEWHERE)
    mpsprobe_remove_tested_elsewhere(ARG_SOURCES)
    if(NOT ARG_SOURCES MATCHES "_test\\.")
      return()
    endif()
  endif()
  # JSON first, as in the program itself.
  add_executable(${name} $<TARGET_OBJECTS:mpsprobe_json> ${ARG_SOURCES})
  mpsprobe_target_defaults(${name})
  mpsprobe_unity(${name})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES}
    MPSPROBE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MPSPROBE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(ARG_NEEDS)
    add_dependencies(${name} ${ARG_NEEDS})
  endif()
  # A test runs once: optimising it takes longer than it saves.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  # What is looked at is what it calls: a quarter of the time that compiling it takes.
  if(MPSPROBE_SANITIZE MATCHES "undefined")
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  if(ARG_ONE_PROCESS OR CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/Testing/${name}.xml)
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
    return()
  endif()
  # With sanitizers a program takes longer to start than most of its tests run: a third of them at a time.
  if(MPSPROBE_SANITIZE)
    foreach(part 0 1 2)
      add_test(NAME ${name}.${part} COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/Testing/${name}.${part}.xml)
      set_tests_properties(${name}.${part} PROPERTIES ${schedule} TIMEOUT 600 ENVIRONMENT
                           "GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=${part}")
    endforeach()
    return()
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES ${schedule})
endfunction()

# mpsprobe_fuzzer(<name> CORPUS <folder> SOURCES ... [LIBRARIES ...]): one LLVMFuzzerTestOneInput. With
# MPSPROBE_BUILD_FUZZERS a libFuzzer program; in a build with tests, a test that runs it over its corpus.
function(mpsprobe_fuzzer name)
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;LIBRARIES" ${ARGN})
  get_filename_component(corpus ${ARG_CORPUS} ABSOLUTE)
  if(MPSPROBE_BUILD_FUZZERS)
    add_executable(${name} ${ARG_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    file(WRITE ${PROJECT_BINARY_DIR}/${name}.seeds ${corpus})
  elseif(MPSPROBE_BUILD_TESTS AND NOT MPSPROBE_SANITIZE STREQUAL "thread")
    add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tools/fuzz/replay_for_tests.cpp)
    add_test(NAME ${name} COMMAND ${name} ${corpus})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120)
  else()
    return()
  endif()
  mpsprobe_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
endfunction()
