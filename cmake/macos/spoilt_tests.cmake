# Mistakes that a Mac would show and Linux does not. Each source is built by the rules of all others: sound, as a part of
# the build, and spoilt, once for each mistake, which tools/cross-build-macos builds to see it fail.
function(mpsprobe_spoilt_program name source)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/cmake/macos/testdata/${source})
  mpsprobe_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/spoilt)
endfunction()

# mpsprobe_spoilt(<source> <mistake>... [LIBRARIES ...])
function(mpsprobe_spoilt source)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  get_filename_component(name ${source} NAME_WE)
  mpsprobe_spoilt_program(${name}_sound ${source} ${ARG_LIBRARIES})
  foreach(mistake IN LISTS ARG_UNPARSED_ARGUMENTS)
    mpsprobe_spoilt_program(${mistake}_spoilt ${source} ${ARG_LIBRARIES})
    string(TOUPPER ${mistake} macro)
    set_target_properties(${mistake}_spoilt PROPERTIES
      COMPILE_DEFINITIONS MPSPROBE_SPOILT_${macro} EXCLUDE_FROM_ALL ON)
  endforeach()
endfunction()

mpsprobe_spoilt(selector.mm selector LIBRARIES mpsprobe::apple)
# apple_library is seen with Apple's own libc++ alone (apple_headers.cmake).
mpsprobe_spoilt(spoilt.cpp linux_call apple_library homebrew)
target_link_libraries(homebrew_spoilt PRIVATE spoilt)
target_link_directories(homebrew_spoilt PRIVATE ${CMAKE_SOURCE_DIR}/cmake/macos/testdata)
mpsprobe_spoilt(newer.cpp newer)
if(TARGET LibTorch::cpu)
  mpsprobe_spoilt(symbol.cpp symbol LIBRARIES LibTorch::cpu)
  # Loads a library by @rpath, and names no folder.
  add_executable(run_path_spoilt EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/macos/testdata/newer.cpp)
  target_link_libraries(run_path_spoilt PRIVATE ${MPSPROBE_TORCH_ROOT}/lib/libc10.dylib)
  set_target_properties(run_path_spoilt PROPERTIES INSTALL_RPATH "" RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/spoilt)
endif()
