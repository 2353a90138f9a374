# Imported target LibTorch::cpu: the headers, libc10 and libtorch_cpu, and nothing that wants a GPU.
#
# LibTorch's own TorchConfig.cmake is not used: that of a CUDA build demands a CUDA toolkit and links
# the whole CUDA stack, and mpsprobe-worker needs neither to run on the CPU or on MPS.
# Where it has CUDA and the CUDA runtime's headers are found, LibTorch::cuda as well: for the backend cuda alone.
# Sets MPSPROBE_TORCH_ROOT, MPSPROBE_TORCH_VERSION, MPSPROBE_HAS_MPS_STREAM_POOL (whether its headers declare
# at::mps::getStreamFromPool), MPSPROBE_NO_CUDA (why LibTorch::cuda is missing, else empty) and the cache variable
# MPSPROBE_CUDA_INCLUDE.
include(${CMAKE_CURRENT_LIST_DIR}/LocateTorch.cmake)

mpsprobe_locate(TORCH MPSPROBE_TORCH_ROOT _origin _problems)
if(NOT MPSPROBE_TORCH_ROOT)
  list(JOIN _problems "\n  " _problems)
  message(FATAL_ERROR
    "No usable LibTorch.\n  ${_problems}\n"
    "Do one of these:\n"
    "  tools/setup                          fetches LibTorch ${MPSPROBE_TORCH_PINNED} into .deps\n"
    "  cmake -DMPSPROBE_TORCH=DIR ...       a folder with include/ and lib/, LibTorch "
    "${MPSPROBE_TORCH_MINIMUM} or later\n"
    "  pip install torch                    in the Python environment that is active\n"
    "  cmake -DMPSPROBE_BUILD_WORKER=OFF    builds the runner alone, which needs no LibTorch")
endif()
mpsprobe_library_version(TORCH "${MPSPROBE_TORCH_ROOT}" MPSPROBE_TORCH_VERSION)
message(STATUS "LibTorch ${MPSPROBE_TORCH_VERSION}: ${MPSPROBE_TORCH_ROOT} (${_origin})")

set(_include "${MPSPROBE_TORCH_ROOT}/include")
set(_suffix "${CMAKE_SHARED_LIBRARY_SUFFIX}")
foreach(_library c10 torch_cpu)
  set(_file "${MPSPROBE_TORCH_ROOT}/lib/lib${_library}${_suffix}")
  if(NOT EXISTS "${_file}")
    message(FATAL_ERROR "${_file} does not exist: this LibTorch is for another system than "
                        "${CMAKE_SYSTEM_NAME}, or incomplete. Give the right one: -DMPSPROBE_TORCH=DIR")
  endif()
  add_library(LibTorch::${_library} SHARED IMPORTED GLOBAL)
  set_target_properties(LibTorch::${_library} PROPERTIES IMPORTED_LOCATION "${_file}")
endforeach()

# Another LibTorch in the same place (pip install --upgrade) changes what is detected below.
foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${_include}/${_header}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_include}/${_header}")
  endif()
endforeach()

set(MPSPROBE_HAS_MPS_STREAM_POOL OFF)
if(EXISTS "${_include}/ATen/mps/MPSStream.h")
  file(STRINGS "${_include}/ATen/mps/MPSStream.h" _pool REGEX "getStreamFromPool")
  if(_pool)
    set(MPSPROBE_HAS_MPS_STREAM_POOL ON)
  endif()
endif()

# Which of its two ABIs the C++ library is used with: what uses LibTorch uses LibTorch's.
set(_abi 1)
set(_said "${MPSPROBE_TORCH_ROOT}/share/cmake/Torch/TorchConfig.cmake")
if(EXISTS "${_said}")
  file(STRINGS "${_said}" _said REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(_said)
    set(_abi 0)
    # Text goes from one of our libraries to another.
    add_compile_definitions(_GLIBCXX_USE_CXX11_ABI=0)
  endif()
endif()

# NDEBUG in every build type: classes such as at::RecordFunction have members that exist only with or
# only without it, the released libraries are built with it, and a consumer without it reads the wrong layout.
add_library(LibTorch::cpu INTERFACE IMPORTED GLOBAL)
set_target_properties(LibTorch::cpu PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_include};${_include}/torch/csrc/api/include"
  INTERFACE_COMPILE_FEATURES cxx_std_20
  INTERFACE_COMPILE_DEFINITIONS
    "NDEBUG;$<$<PLATFORM_ID:Linux>:_GLIBCXX_USE_CXX11_ABI=${_abi}>;$<$<BOOL:${MPSPROBE_HAS_MPS_STREAM_POOL}>:MPSPROBE_HAS_MPS_STREAM_POOL=1>;$<$<VERSION_LESS:${MPSPROBE_TORCH_VERSION},2.9>:MPSPROBE_LIBTORCH_BEFORE_2_9>"
  INTERFACE_LINK_LIBRARIES "LibTorch::torch_cpu;LibTorch::c10")
# Programs find LibTorch where it was linked. Not CMake's own RPATH: that leaves out folders inside the
# source tree, such as .deps, and would give the runner, which never loads LibTorch, the same RPATH.
set_property(TARGET LibTorch::cpu APPEND PROPERTY
  INTERFACE_LINK_OPTIONS "LINKER:-rpath,${MPSPROBE_TORCH_ROOT}/lib")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # A CUDA build of libtorch_cpu needs libcudart and libcupti, which it finds at run time through an
  # RPATH of its own. Some linkers do not follow that, and what it lacks is not ours to resolve.
  set_property(TARGET LibTorch::cpu APPEND PROPERTY
    INTERFACE_LINK_OPTIONS "LINKER:--unresolved-symbols=ignore-in-shared-libs")
endif()

# A compiler that comes without the shared C++ runtime links the static one. LibTorch has the shared one, and two
# of them in a process free one another's memory: what uses LibTorch uses its runtime.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.so
                  OUTPUT_VARIABLE _runtime OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT IS_ABSOLUTE "${_runtime}")
    find_library(MPSPROBE_SHARED_RUNTIME libstdc++.so.6 DOC "The C++ runtime that LibTorch uses")
    mark_as_advanced(MPSPROBE_SHARED_RUNTIME)
    if(MPSPROBE_SHARED_RUNTIME)
      set_property(TARGET LibTorch::cpu APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${MPSPROBE_SHARED_RUNTIME}")
    endif()
  endif()
endif()

# The CUDA runtime's headers, whole (some wheels leave crt/ to another one) and of the major release that this
# LibTorch was built with: beside torch, where its own wheels put theirs, or in a toolkit.
file(GLOB _beside "${MPSPROBE_TORCH_ROOT}/../nvidia/cu[0-9]*/include"
                  "${MPSPROBE_TORCH_ROOT}/../nvidia/cuda_runtime/include")
find_path(MPSPROBE_CUDA_INCLUDE crt/host_config.h HINTS ${_beside} PATHS "$ENV{CUDA_HOME}/include" /usr/local/cuda/include
          DOC "Folder that holds cuda_runtime_api.h and crt/")
mark_as_advanced(MPSPROBE_CUDA_INCLUDE)
set(_cuda_of_torch "")
if(EXISTS "${MPSPROBE_TORCH_ROOT}/version.py")
  file(STRINGS "${MPSPROBE_TORCH_ROOT}/version.py" _cuda_of_torch REGEX "^cuda[: ]")
  string(REGEX REPLACE ".*'([0-9]+)[.].*" "\\1" _cuda_of_torch "${_cuda_of_torch}")
endif()
set(_cuda_of_headers "")
if(MPSPROBE_CUDA_INCLUDE)
  file(STRINGS "${MPSPROBE_CUDA_INCLUDE}/cuda_runtime_api.h" _cuda_of_headers REGEX "#define CUDART_VERSION")
  string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9][0-9]$" "\\1" _cuda_of_headers "${_cuda_of_headers}")
endif()
get_filename_component(_cuda_folder "${MPSPROBE_CUDA_INCLUDE}" REALPATH)  # "include" may be a link to elsewhere
get_filename_component(_cuda_folder "${_cuda_folder}" DIRECTORY)
file(GLOB _cudart "${_cuda_folder}/lib/libcudart.so*" "${_cuda_folder}/lib64/libcudart.so*")
set(MPSPROBE_NO_CUDA "")
if(NOT EXISTS "${MPSPROBE_TORCH_ROOT}/lib/libtorch_cuda${_suffix}")
  set(MPSPROBE_NO_CUDA "this LibTorch has no CUDA")
elseif(NOT MPSPROBE_CUDA_INCLUDE)
  set(MPSPROBE_NO_CUDA "the headers of the CUDA runtime were not found: set CUDA_HOME or MPSPROBE_CUDA_INCLUDE")
elseif(NOT _cuda_of_headers STREQUAL _cuda_of_torch)
  set(MPSPROBE_NO_CUDA "LibTorch is for CUDA ${_cuda_of_torch}, and ${MPSPROBE_CUDA_INCLUDE} is CUDA ${_cuda_of_headers}")
elseif(NOT _cudart)
  set(MPSPROBE_NO_CUDA "no libcudart beside ${MPSPROBE_CUDA_INCLUDE}")
else()
  list(GET _cudart 0 _cudart)
  foreach(_library c10_cuda torch_cuda)
    add_library(LibTorch::${_library} SHARED IMPORTED GLOBAL)
    set_target_properties(LibTorch::${_library} PROPERTIES
      IMPORTED_LOCATION "${MPSPROBE_TORCH_ROOT}/lib/lib${_library}${_suffix}")
  endforeach()
  add_library(LibTorch::cuda INTERFACE IMPORTED GLOBAL)
  # torch_cuda is needed although nothing names it: loading it is what registers its kernels. Of the CUDA
  # runtime the one that it loads is used: it is in the process before anything looks for another.
  set_target_properties(LibTorch::cuda PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${MPSPROBE_CUDA_INCLUDE}"
    INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed"
    INTERFACE_LINK_LIBRARIES "LibTorch::torch_cuda;LibTorch::c10_cuda;LibTorch::cpu;${_cudart}")
endif()
