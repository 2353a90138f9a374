# Objective-C++ for the backend metal. Target mpsprobe::apple: what a program against Metal,
# MetalPerformanceShaders and MetalPerformanceShadersGraph is compiled and linked with. No ARC: the runtime that
# GNUstep is built with has none, and the same sources are compiled for both.
#   macOS  Apple's own frameworks
#   Linux  our declarations of them (scenarios/frameworks), GNUstep's Foundation, clang for its blocks; what
#          implements them is the simulated device's face (scenarios/sim/face), which has to be linked besides
# Sets MPSPROBE_NO_OBJCXX: why the target is missing, else empty.
set(MPSPROBE_NO_OBJCXX "")
set(_options "")
set(_libraries "")

if(APPLE)
  enable_language(OBJCXX)
  set(_options -fno-objc-arc -fblocks)
  # CoreGraphics: without it Metal names no default device to a program without windows
  # (https://developer.apple.com/documentation/metal/mtlcreatesystemdefaultdevice()).
  set(_libraries "-Wl,-needed_framework,CoreGraphics" "-framework Foundation" "-framework Metal"
                 "-framework MetalPerformanceShaders" "-framework MetalPerformanceShadersGraph"
                 "-lobjc")
elseif(MPSPROBE_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(MPSPROBE_NO_OBJCXX "with sanitizers it needs clang for the rest as well")
else()
  find_program(MPSPROBE_CLANG clang++ DOC "clang++, which compiles Objective-C++ with blocks")
  find_path(MPSPROBE_GNUSTEP_INCLUDE Foundation/Foundation.h PATHS /usr/include/GNUstep
            NO_DEFAULT_PATH DOC "Folder that holds GNUstep's Foundation/Foundation.h")
  find_library(MPSPROBE_GNUSTEP gnustep-base DOC "GNUstep's Foundation")
  find_library(MPSPROBE_BLOCKS BlocksRuntime DOC "The runtime of blocks")
  # The Objective-C runtime and its headers come with gcc, in folders of its own.
  file(GLOB _gcc_folders /usr/lib/gcc/*/*)
  list(SORT _gcc_folders COMPARE NATURAL ORDER DESCENDING)
  find_path(MPSPROBE_OBJC_INCLUDE objc/objc.h PATHS ${_gcc_folders} PATH_SUFFIXES include NO_DEFAULT_PATH
            DOC "Folder that holds gcc's objc/objc.h")
  find_library(MPSPROBE_OBJC objc PATHS ${_gcc_folders} NO_DEFAULT_PATH DOC "gcc's Objective-C runtime")
  mark_as_advanced(MPSPROBE_CLANG MPSPROBE_GNUSTEP_INCLUDE MPSPROBE_GNUSTEP MPSPROBE_BLOCKS
                   MPSPROBE_OBJC_INCLUDE MPSPROBE_OBJC)
  foreach(_part CLANG GNUSTEP_INCLUDE GNUSTEP BLOCKS OBJC_INCLUDE OBJC)
    if(NOT MPSPROBE_${_part})
      set(MPSPROBE_NO_OBJCXX
          "it needs clang and GNUstep: clang libgnustep-base-dev gobjc++ libblocksruntime-dev (Debian, Ubuntu)")
    endif()
  endforeach()
  if(NOT MPSPROBE_NO_OBJCXX)
    if(NOT CMAKE_OBJCXX_COMPILER)
      set(CMAKE_OBJCXX_COMPILER ${MPSPROBE_CLANG})
    endif()
    enable_language(OBJCXX)
    # GNUstep's headers before our folder: that has a Foundation too, for the cross-build.
    set(_options -fblocks -fobjc-runtime=gcc -fconstant-string-class=NSConstantString -fobjc-exceptions
        "SHELL:-isystem ${PROJECT_SOURCE_DIR}/scenarios/sim/face/gnustep"
        "SHELL:-isystem ${MPSPROBE_GNUSTEP_INCLUDE}" "SHELL:-isystem ${MPSPROBE_OBJC_INCLUDE}"
        "SHELL:-iframework ${PROJECT_SOURCE_DIR}/scenarios/frameworks")
    # Blocks first: Foundation has a Block_copy of its own, which leaves blocks that hold plain numbers on the stack. Also
    # in a program that has no block itself: what it loads takes the first Block_copy of all.
    set(_libraries "-Wl,--push-state,--no-as-needed,${MPSPROBE_BLOCKS},--pop-state" ${MPSPROBE_GNUSTEP} ${MPSPROBE_OBJC})
  endif()
endif()

if(NOT MPSPROBE_NO_OBJCXX)
  set(CMAKE_OBJCXX_STANDARD 20)
  set(CMAKE_OBJCXX_STANDARD_REQUIRED ON)
  set(CMAKE_OBJCXX_EXTENSIONS OFF)
  if(MPSPROBE_CCACHE AND NOT DEFINED CMAKE_OBJCXX_COMPILER_LAUNCHER)
    set(CMAKE_OBJCXX_COMPILER_LAUNCHER ${MPSPROBE_CCACHE})
  endif()
  add_library(mpsprobe_apple INTERFACE)
  add_library(mpsprobe::apple ALIAS mpsprobe_apple)
  target_compile_options(mpsprobe_apple INTERFACE "$<$<COMPILE_LANGUAGE:OBJCXX>:${_options}>")
  target_link_libraries(mpsprobe_apple INTERFACE ${_libraries})
endif()
