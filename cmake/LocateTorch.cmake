# Which LibTorch is the one under test: the only place that knows the search order.
#
# Included by LibTorch.cmake, and run as a script by tools/setup, so that both choose the same one:
#   cmake -P cmake/LocateTorch.cmake     prints its folder, or nothing; the reasons go to stderr.
# The environment is read at each configuration and never cached: a LibTorch remembered from last
# week is a wrong library under test.

set(MPSPROBE_TORCH_MINIMUM 2.9)
set(MPSPROBE_TORCH_PINNED 2.15.0)

# mpsprobe_torch_version(<folder> <out>): "2.15.0" from the headers, "" where they do not tell
function(mpsprobe_torch_version folder out)
  set(${out} "" PARENT_SCOPE)
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h torch/version.h)
    if(EXISTS "${folder}/include/${header}")
      file(STRINGS "${folder}/include/${header}" lines
           REGEX "^#define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
      string(REGEX MATCH "_MAJOR +([0-9]+)" ignored "${lines}")
      set(major "${CMAKE_MATCH_1}")
      string(REGEX MATCH "_MINOR +([0-9]+)" ignored "${lines}")
      set(minor "${CMAKE_MATCH_1}")
      string(REGEX MATCH "_PATCH +([0-9]+)" ignored "${lines}")
      set(patch "${CMAKE_MATCH_1}")
      if(NOT major STREQUAL "" AND NOT minor STREQUAL "")
        set(${out} "${major}.${minor}.${patch}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# mpsprobe_torch_root(<folder> <out root> <out problem>): the folder with include/ and lib/ at or
# directly below <folder> (unpacked wheels and site-packages: torch/, archives: libtorch/)
function(mpsprobe_torch_root folder out_root out_problem)
  set(${out_root} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  foreach(root "${folder}" "${folder}/torch" "${folder}/libtorch")
    if(EXISTS "${root}/include/ATen/ATen.h")
      if(NOT EXISTS "${root}/lib/libtorch_cpu.so" AND NOT EXISTS "${root}/lib/libtorch_cpu.dylib")
        set(${out_problem} "${root} has headers but no lib/libtorch_cpu.{so,dylib}" PARENT_SCOPE)
        return()
      endif()
      mpsprobe_torch_version("${root}" version)
      if(version STREQUAL "")
        set(${out_problem} "${root} has no header that tells its version" PARENT_SCOPE)
      elseif(version VERSION_LESS MPSPROBE_TORCH_MINIMUM)
        set(${out_problem}
            "${root} is LibTorch ${version}, and ${MPSPROBE_TORCH_MINIMUM} or later is needed" PARENT_SCOPE)
      else()
        set(${out_root} "${root}" PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
  set(${out_problem} "${folder} has no include/ATen/ATen.h" PARENT_SCOPE)
endfunction()

# mpsprobe_locate_torch(<out root> <out origin> <out problems>): the first of
#   1. MPSPROBE_TORCH, a CMake variable or else an environment variable (binding: if it is no good, nothing else is tried)
#   2. the torch of the active Python
#   3. what tools/setup has fetched
function(mpsprobe_locate_torch out_root out_origin out_problems)
  set(${out_root} "" PARENT_SCOPE)
  set(${out_origin} "" PARENT_SCOPE)
  set(${out_problems} "" PARENT_SCOPE)
  set(named "${MPSPROBE_TORCH}")
  set(origin "-DMPSPROBE_TORCH")
  if(named STREQUAL "")
    set(named "$ENV{MPSPROBE_TORCH}")
    set(origin "environment variable MPSPROBE_TORCH")
  endif()
  if(NOT named STREQUAL "")
    get_filename_component(named "${named}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
    mpsprobe_torch_root("${named}" root problem)
    set(${out_root} "${root}" PARENT_SCOPE)
    set(${out_origin} "${origin}" PARENT_SCOPE)
    if(problem)
      set(${out_problems} "${origin}: ${problem}" PARENT_SCOPE)
    endif()
    return()
  endif()
  if(CMAKE_CROSSCOMPILING)
    set(${out_problems} "cross-compiling: this machine's own LibTorch is not looked for" PARENT_SCOPE)
    return()
  endif()

  set(problems "")
  find_program(python NAMES python3 python NO_CACHE)
  if(python)
    # find_spec does not import torch, which would take seconds; the current folder is not searched,
    # since a folder there that happens to be named torch is no installation.
    execute_process(
      COMMAND "${python}" -c "import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util
spec = importlib.util.find_spec('torch')
print((list(spec.submodule_search_locations or []) or [''])[0] if spec else '')"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND NOT folder STREQUAL "")
      mpsprobe_torch_root("${folder}" root problem)
      if(root)
        set(${out_root} "${root}" PARENT_SCOPE)
        set(${out_origin} "torch of the active Python, ${python}" PARENT_SCOPE)
        return()
      endif()
      list(APPEND problems "torch of the active Python: ${problem}")
    else()
      list(APPEND problems "the active Python (${python}) has no torch")
    endif()
  else()
    list(APPEND problems "no python3 in PATH")
  endif()

  get_filename_component(source_dir "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" DIRECTORY)
  set(fetched "${source_dir}/.deps/torch-${MPSPROBE_TORCH_PINNED}")
  if(EXISTS "${fetched}")
    mpsprobe_torch_root("${fetched}" root problem)
    if(root)
      set(${out_root} "${root}" PARENT_SCOPE)
      set(${out_origin} "fetched by tools/setup" PARENT_SCOPE)
      return()
    endif()
    list(APPEND problems "fetched by tools/setup: ${problem}")
  else()
    list(APPEND problems "tools/setup has fetched none (${fetched})")
  endif()
  set(${out_problems} "${problems}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  mpsprobe_locate_torch(root origin problems)
  foreach(problem IN LISTS problems)
    message("${problem}")  # to stderr
  endforeach()
  if(root)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${root}")
  endif()
endif()
