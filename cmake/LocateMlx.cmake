# Which MLX is the one under test: the only place that knows.
#
# Included by Mlx.cmake, and run as a script by tools/setup, so that both choose the same one:
#   cmake -P cmake/LocateMlx.cmake     prints its folder, or nothing; the reasons go to stderr.
include(${CMAKE_CURRENT_LIST_DIR}/LocateLibrary.cmake)

set(MPSPROBE_MLX_MINIMUM 0.29)
set(MPSPROBE_MLX_PINNED 0.32.4)
# The release in which a race is known that shows on every machine: beside it, that another passes is worth something.
set(MPSPROBE_MLX_CONTROL 0.31.1)
set(MPSPROBE_MLX_CALLED MLX)
set(MPSPROBE_MLX_PACKAGE mlx)
set(MPSPROBE_MLX_FOLDERS mlx)
set(MPSPROBE_MLX_HEADER mlx/mlx.h)
set(MPSPROBE_MLX_LIBRARY mlx)
set(MPSPROBE_MLX_VERSIONS mlx/version.h)

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  mpsprobe_print_located(MLX)
endif()
