# The releases of MLX that workers are built for: the one under test and, away from a Mac or beside it, the control.
# mpsprobe_mlx_releases holds the root folder of each.
include(LocateMlx)

mpsprobe_locate(MLX _root _origin _problems)
set(mpsprobe_mlx_releases ${_root})
if(_root)
  mpsprobe_library_version(MLX "${_root}" _version)
  message(STATUS "MLX ${_version} in ${_root} (${_origin})")
  if(MPSPROBE_MLX_WITH_CONTROL AND NOT CMAKE_CROSSCOMPILING AND NOT _version VERSION_EQUAL MPSPROBE_MLX_CONTROL)
    mpsprobe_fetched(MLX ${MPSPROBE_MLX_CONTROL} _control _problem)
    list(APPEND mpsprobe_mlx_releases ${_control})
  endif()
elseif(NOT "${MPSPROBE_MLX}$ENV{MPSPROBE_MLX}" STREQUAL "")
  message(FATAL_ERROR "${_problems}")
else()
  list(JOIN _problems "; " _problems)
  message(STATUS "no MLX, so no worker for the backend mlx: ${_problems}. tools/setup fetches it")
endif()

# mpsprobe_mlx_library(<root> <out target> <out version>): the release as a target to link
function(mpsprobe_mlx_library root out_target out_version)
  mpsprobe_library_version(MLX "${root}" version)
  set(target mpsprobe_mlx_${version})
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${root}/lib/libmlx${CMAKE_SHARED_LIBRARY_SUFFIX}"
    INTERFACE_INCLUDE_DIRECTORIES "${root}/include"
    INTERFACE_LINK_OPTIONS "LINKER:-rpath,${root}/lib")
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # What libmlx itself needs lies beside it, and its own RPATH finds it when a program runs.
    set_property(TARGET ${target} APPEND PROPERTY
      INTERFACE_LINK_OPTIONS "LINKER:--allow-shlib-undefined" "LINKER:-rpath-link,${root}/../mlx_cpu.libs")
  endif()
  set(${out_target} ${target} PARENT_SCOPE)
  set(${out_version} ${version} PARENT_SCOPE)
endfunction()
