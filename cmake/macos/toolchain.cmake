# Cross-building for Apple silicon, or for an Intel Mac, and macOS 14 with zig. tools/cross-build-macos uses it, on a
# machine without Apple's tools; on a Mac it has no business.
set(CMAKE_SYSTEM_NAME Darwin)
set(MPSPROBE_MACOS_PROCESSOR arm64 CACHE STRING
    "The Macs to build for: arm64, or x86_64, for which there is no LibTorch and no MLX")
set(CMAKE_SYSTEM_PROCESSOR ${MPSPROBE_MACOS_PROCESSOR})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MPSPROBE_MACOS_PROCESSOR)
if(MPSPROBE_MACOS_PROCESSOR STREQUAL "x86_64")
  # Of two targets zig takes the last.
  foreach(_language C CXX OBJCXX)
    set(CMAKE_${_language}_COMPILER_TARGET x86_64-macos.14.0)
  endforeach()
elseif(NOT MPSPROBE_MACOS_PROCESSOR STREQUAL "arm64")
  message(FATAL_ERROR "MPSPROBE_MACOS_PROCESSOR is arm64 or x86_64, not ${MPSPROBE_MACOS_PROCESSOR}")
endif()
# The triple in zig-c++ says for which macOS. Empty: CMake would ask xcrun for an SDK, and add -arch and
# -mmacosx-version-min, of which there would then be two.
set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
set(CMAKE_OSX_ARCHITECTURES "" CACHE STRING "" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)

set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-cc)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-c++)
set(CMAKE_OBJCXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig-c++)
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/zig-ar CACHE FILEPATH "" FORCE)
set(CMAKE_RANLIB ${CMAKE_CURRENT_LIST_DIR}/zig-ranlib CACHE FILEPATH "" FORCE)
# CMake insists that there is one. Every RPATH is given at the link, so nothing is to call it, and what does
# fails.
set(CMAKE_INSTALL_NAME_TOOL /bin/false CACHE FILEPATH "" FORCE)

# Nothing of this machine's own: no library, no header, no package.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/nothing)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# The project's own declarations of what it uses of Apple's frameworks, and libobjc: zig brings libSystem and
# the headers of the Objective-C runtime.
get_filename_component(_frameworks ${CMAKE_CURRENT_LIST_DIR}/../../scenarios/frameworks ABSOLUTE)
set(CMAKE_CXX_FLAGS_INIT "-F${_frameworks}")
set(CMAKE_OBJCXX_FLAGS_INIT "-F${_frameworks}")
foreach(_kind EXE SHARED MODULE)
  set(CMAKE_${_kind}_LINKER_FLAGS_INIT "-F${_frameworks} -L${_frameworks}")
endforeach()
