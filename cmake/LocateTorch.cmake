# Which LibTorch is the one under test: the only place that knows.
#
# Included by LibTorch.cmake, and run as a script by tools/setup, so that both choose the same one:
#   cmake -P cmake/LocateTorch.cmake     prints its folder, or nothing; the reasons go to stderr.
include(${CMAKE_CURRENT_LIST_DIR}/LocateLibrary.cmake)

set(MPSPROBE_TORCH_MINIMUM 2.9)
if(MPSPROBE_PYTORCH_SOURCE)
  # Debian's sources are of this one.
  set(MPSPROBE_TORCH_MINIMUM 2.6)
endif()
set(MPSPROBE_TORCH_PINNED 2.15.0)
set(MPSPROBE_TORCH_CALLED LibTorch)
set(MPSPROBE_TORCH_PACKAGE torch)
set(MPSPROBE_TORCH_FOLDERS torch libtorch)
set(MPSPROBE_TORCH_HEADER ATen/ATen.h)
set(MPSPROBE_TORCH_LIBRARY torch_cpu)
set(MPSPROBE_TORCH_VERSIONS
    torch/headeronly/version.h torch/csrc/api/include/torch/version.h torch/version.h)

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  mpsprobe_print_located(TORCH)
endif()
