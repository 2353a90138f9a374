# Included by the project's own project() when it is cross-built for macOS (CMAKE_PROJECT_mpsprobe_INCLUDE): the
# libraries, at once, and when all targets are known, what has to be found wrong after the build.
enable_language(OBJCXX)
# zig links no bundles, the form of modules that CMake asks for. Nothing that is loaded by name needs to be one.
foreach(_language CXX OBJCXX)
  set(CMAKE_SHARED_MODULE_CREATE_${_language}_FLAGS "${CMAKE_SHARED_LIBRARY_CREATE_${_language}_FLAGS}")
endforeach()
# CMake asks for an LC_RPATH where it knows the system's version, which it takes from xcrun.
foreach(_language C CXX OBJCXX)
  set(CMAKE_SHARED_LIBRARY_RUNTIME_${_language}_FLAG "-Wl,-rpath,")
  set(CMAKE_EXECUTABLE_RUNTIME_${_language}_FLAG "-Wl,-rpath,")
endforeach()
# With Apple's headers nothing is linked: what is built from a library wants only that it is there.
if(MPSPROBE_MACOS_SDK)
  foreach(_language CXX OBJCXX)
    foreach(_link LINK_EXECUTABLE CREATE_SHARED_LIBRARY CREATE_SHARED_MODULE)
      set(CMAKE_${_language}_${_link} "<CMAKE_COMMAND> -E touch <TARGET>")
    endforeach()
  endforeach()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/packages.cmake)
cmake_language(EVAL CODE "cmake_language(DEFER CALL include [[${CMAKE_CURRENT_LIST_DIR}/spoilt_tests.cmake]])")
set(MPSPROBE_RUN_AT "" CACHE PATH "Where the copy of this checkout lies on the machine that runs what is built (tools/run-on-mac)")
if(MPSPROBE_RUN_AT)
  include(${CMAKE_CURRENT_LIST_DIR}/run_elsewhere.cmake)
  cmake_language(DEFER CALL mpsprobe_run_elsewhere)
endif()
