# Linux on 64-bit ARM, with Debian's compiler for it and the libraries that tools/setup --wheel aarch64 unpacks. What is
# headers alone comes from this machine's own packages.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
get_filename_component(_packages ${CMAKE_CURRENT_LIST_DIR}/../.deps/aarch64 ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${_packages} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(MPSPROBE_LIBRARY_FOLDERS ${_packages}/usr/lib/aarch64-linux-gnu ${_packages}/lib/aarch64-linux-gnu
    /usr/aarch64-linux-gnu/lib)
file(GLOB fmt_DIR /usr/lib/*-linux-gnu/cmake/fmt) # its headers are all that is taken of it
# Where the linker finds what a library of these packages needs itself.
list(JOIN MPSPROBE_LIBRARY_FOLDERS ":" _folders)
foreach(_kind EXE SHARED)
  set(CMAKE_${_kind}_LINKER_FLAGS_INIT "-Wl,-rpath-link,${_folders}")
endforeach()
