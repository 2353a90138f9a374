# find_package(mpsprobe): the target mpsprobe::worker, the C library that a worker stands on (mpsprobe/worker.h). Of a
# build tree, an installed one, or the environment that pip installed into: everything lies relative to this file.
# COMPONENTS pytorch_mps: mpsprobe::pytorch_mps besides, PyTorch's own MPS code over the simulated Metal (docs/mps.md), of
# the build tree that tools/build-worker pytorch-mps made.
include("${CMAKE_CURRENT_LIST_DIR}/pytorch_mps.cmake" OPTIONAL)
if("pytorch_mps" IN_LIST mpsprobe_FIND_COMPONENTS AND NOT TARGET mpsprobe::pytorch_mps)
  set(mpsprobe_FOUND FALSE)
  set(mpsprobe_NOT_FOUND_MESSAGE "this build has no PyTorch: call tools/build-worker pytorch-mps, and give build/mps-own as CMAKE_PREFIX_PATH")
  return()
endif()
get_filename_component(_mpsprobe_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_mpsprobe_name libmpsprobe_worker${CMAKE_SHARED_LIBRARY_SUFFIX})
file(GLOB _mpsprobe_library "${_mpsprobe_prefix}/lib/${_mpsprobe_name}"
     "${_mpsprobe_prefix}/lib/python*/*-packages/mpsprobe/${_mpsprobe_name}")
if(_mpsprobe_library)
  list(GET _mpsprobe_library 0 _mpsprobe_library)
else()
  set(mpsprobe_FOUND FALSE)
  set(mpsprobe_NOT_FOUND_MESSAGE "libmpsprobe_worker is neither in ${_mpsprobe_prefix}/lib nor in a Python package there")
  return()
endif()
if(NOT TARGET mpsprobe::worker)
  add_library(mpsprobe::worker SHARED IMPORTED)
  set_target_properties(mpsprobe::worker PROPERTIES
    IMPORTED_LOCATION "${_mpsprobe_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../include")
  if(NOT APPLE)
    set_target_properties(mpsprobe::worker PROPERTIES IMPORTED_SONAME "${_mpsprobe_name}")
  endif()
endif()
