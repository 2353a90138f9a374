# Mistakes that a Mac would show and Linux does not. Each source is built twice, by the rules of all others:
# sound, as a part of the build, and spoilt, which tools/cross-build-macos builds to see it fail.
function(mpsprobe_spoilt name source)
  foreach(kind sound spoilt)
    set(target ${name}_${kind})
    add_executable(${target} ${CMAKE_SOURCE_DIR}/cmake/macos/spoilt/${source})
    mpsprobe_target_defaults(${target})
    target_link_libraries(${target} PRIVATE ${ARGN})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/spoilt)
  endforeach()
  set_target_properties(${name}_spoilt PROPERTIES
    COMPILE_DEFINITIONS MPSPROBE_SPOILT EXCLUDE_FROM_ALL ON)
endfunction()

mpsprobe_spoilt(selector selector.mm mpsprobe::apple)
mpsprobe_spoilt(linux_call linux_call.cpp)
# Seen with Apple's own libc++ alone (apple_headers.cmake).
mpsprobe_spoilt(apple_library apple_library.cpp)
mpsprobe_spoilt(newer newer.cpp)
mpsprobe_spoilt(homebrew homebrew.cpp)
target_link_libraries(homebrew_spoilt PRIVATE spoilt)
target_link_directories(homebrew_spoilt PRIVATE ${CMAKE_SOURCE_DIR}/cmake/macos/spoilt)
if(TARGET LibTorch::cpu)
  mpsprobe_spoilt(symbol symbol.cpp LibTorch::cpu)
  # Loads a library by @rpath, and names no folder.
  add_executable(run_path_spoilt EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/macos/spoilt/newer.cpp)
  target_link_libraries(run_path_spoilt PRIVATE ${MPSPROBE_TORCH_ROOT}/lib/libc10.dylib)
  set_target_properties(run_path_spoilt PROPERTIES INSTALL_RPATH "" RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/spoilt)
endif()
