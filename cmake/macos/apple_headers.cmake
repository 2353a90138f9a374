# Compiling for Apple silicon and macOS 14 with Apple's own headers and libc++ 16, by the clang that Xcode 15 is made
# of: what zig's headers and newer libc++ let pass is seen here. Nothing is linked. tools/cross-build-macos uses it, with
# the folders that apple_sdk lays out:
#   MPSPROBE_MACOS_SDK    Apple's headers
#   MPSPROBE_MACOS_GAPS   our declarations of frameworks that are not among them
include(${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake)
find_program(MPSPROBE_CLANG_16 clang++-16 REQUIRED)
find_program(MPSPROBE_CLANG_16_C clang-16 REQUIRED)
mark_as_advanced(MPSPROBE_CLANG_16 MPSPROBE_CLANG_16_C)
set(CMAKE_C_COMPILER ${MPSPROBE_CLANG_16_C})
set(CMAKE_CXX_COMPILER ${MPSPROBE_CLANG_16})
set(CMAKE_OBJCXX_COMPILER ${MPSPROBE_CLANG_16})
set(CMAKE_OSX_SYSROOT "${MPSPROBE_MACOS_SDK}" CACHE STRING "" FORCE)
set(CMAKE_OSX_ARCHITECTURES arm64 CACHE STRING "" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET 14.0 CACHE STRING "" FORCE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MPSPROBE_MACOS_SDK MPSPROBE_MACOS_GAPS)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER_TARGET arm64-apple-macos14.0)
foreach(_language CXX OBJCXX)
  set(CMAKE_${_language}_COMPILER_TARGET arm64-apple-macos14.0)
  # Ours mark what only the simulated device has. Apple's clang defines the other, which clang 16 does not, and without
  # which Apple's headers take a dispatch queue for no object.
  set(CMAKE_${_language}_FLAGS_INIT "-stdlib=libc++ -F${MPSPROBE_MACOS_GAPS} -DMPSPROBE_SIMULATED_HALF= -D__ENVIRONMENT_OS_VERSION_MIN_REQUIRED__=140000")
endforeach()
