# Where the library under test is looked for: the one search order, for LibTorch and MLX alike (LocateTorch.cmake,
# LocateMlx.cmake). NAME is TORCH or MLX; of each is known
#   MPSPROBE_<NAME>_CALLED    what people call it
#   MPSPROBE_<NAME>_PACKAGE   what PyPI calls it, and the folder that tools/setup unpacks it to
#   MPSPROBE_<NAME>_FOLDERS   below a folder that somebody names, where include/ and lib/ may lie
#   MPSPROBE_<NAME>_HEADER    by which its headers are told
#   MPSPROBE_<NAME>_LIBRARY   without prefix and suffix
#   MPSPROBE_<NAME>_VERSIONS  headers that define <NAME>_VERSION_MAJOR, _MINOR and _PATCH, the first that is there
#   MPSPROBE_<NAME>_MINIMUM, MPSPROBE_<NAME>_PINNED
# The environment is read at each configuration and never cached: a library remembered from last week is a wrong library
# under test.

# mpsprobe_library_version(<NAME> <folder> <out>): "2.15.0" from the headers, "" where they do not tell
function(mpsprobe_library_version name folder out)
  set(${out} "" PARENT_SCOPE)
  foreach(header IN LISTS MPSPROBE_${name}_VERSIONS)
    if(EXISTS "${folder}/include/${header}")
      file(STRINGS "${folder}/include/${header}" lines REGEX "^#define ${name}_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
      if("${lines}" MATCHES "_MAJOR +([0-9]+).*_MINOR +([0-9]+).*_PATCH +([0-9]+)")
        set(${out} "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# mpsprobe_library_root(<NAME> <folder> <out root> <out problem>): the folder with include/ and lib/ at or directly below
# <folder> (unpacked wheels, site-packages and archives)
function(mpsprobe_library_root name folder out_root out_problem)
  set(${out_root} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  set(header include/${MPSPROBE_${name}_HEADER})
  set(library lib/lib${MPSPROBE_${name}_LIBRARY})
  foreach(below "" ${MPSPROBE_${name}_FOLDERS})
    string(REGEX REPLACE "/$" "" root "${folder}/${below}")
    if(EXISTS "${root}/${header}")
      mpsprobe_library_version(${name} "${root}" version)
      if(NOT EXISTS "${root}/${library}.so" AND NOT EXISTS "${root}/${library}.dylib")
        set(${out_problem} "${root} has headers but no ${library}.{so,dylib}" PARENT_SCOPE)
      elseif(version STREQUAL "")
        set(${out_problem} "${root} has no header that tells its version" PARENT_SCOPE)
      elseif(version VERSION_LESS MPSPROBE_${name}_MINIMUM)
        set(${out_problem}
            "${root} is ${MPSPROBE_${name}_CALLED} ${version}, and ${MPSPROBE_${name}_MINIMUM} or later is needed"
            PARENT_SCOPE)
      else()
        set(${out_root} "${root}" PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
  set(${out_problem} "${folder} has no ${header}" PARENT_SCOPE)
endfunction()

# mpsprobe_in_python(<NAME> <out root> <out origin> <out problem>): that of the active Python, and what to call it; else
# why there is none. The package is not imported, which can take seconds; the current folder is not searched, since a
# folder there that happens to have the name is no installation.
function(mpsprobe_in_python name out_root out_origin out_problem)
  set(package ${MPSPROBE_${name}_PACKAGE})
  set(root "")
  find_program(python NAMES python3 python NO_CACHE)
  set(problem "no python3 in PATH")
  if(python)
    execute_process(
      COMMAND "${python}" -c "import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util
spec = importlib.util.find_spec('${package}')
print((list(spec.submodule_search_locations or []) or [''])[0] if spec else '')"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(problem "the active Python (${python}) has no ${package}")
    if(folder)
      mpsprobe_library_root(${name} "${folder}" root problem)
      set(problem "${package} of the active Python: ${problem}")
    endif()
  endif()
  set(${out_root} "${root}" PARENT_SCOPE)
  set(${out_origin} "${package} of the active Python, ${python}" PARENT_SCOPE)
  set(${out_problem} "${problem}" PARENT_SCOPE)
endfunction()

# mpsprobe_fetched(<NAME> <version> <out root> <out problem>): what tools/setup has fetched of this version
function(mpsprobe_fetched name version out_root out_problem)
  get_filename_component(source_dir "${CMAKE_CURRENT_FUNCTION_LIST_DIR}" DIRECTORY)
  set(folder "${source_dir}/.deps/${MPSPROBE_${name}_PACKAGE}-${version}")
  set(root "")
  set(problem "tools/setup has fetched none (${folder})")
  if(EXISTS "${folder}")
    mpsprobe_library_root(${name} "${folder}" root problem)
  endif()
  set(${out_root} "${root}" PARENT_SCOPE)
  set(${out_problem} "${problem}" PARENT_SCOPE)
endfunction()

# mpsprobe_locate(<NAME> <out root> <out origin> <out problems>): the first of
#   1. MPSPROBE_<NAME>, a CMake variable or else an environment variable (binding: if it is no good, nothing else is
#      tried)
#   2. that of the active Python
#   3. what tools/setup has fetched
function(mpsprobe_locate name out_root out_origin out_problems)
  set(root "")
  set(problems "")
  set(named "${MPSPROBE_${name}}")
  set(origin "-DMPSPROBE_${name}")
  if(named STREQUAL "")
    set(named "$ENV{MPSPROBE_${name}}")
    set(origin "environment variable MPSPROBE_${name}")
  endif()
  if(NOT named STREQUAL "")
    get_filename_component(named "${named}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
    mpsprobe_library_root(${name} "${named}" root problem)
    if(problem)
      set(problems "${origin}: ${problem}")
    endif()
  elseif(CMAKE_CROSSCOMPILING)
    set(problems "cross-compiling: this machine's own ${MPSPROBE_${name}_CALLED} is not looked for")
  else()
    mpsprobe_in_python(${name} root origin problem)
    if(NOT root)
      set(problems "${problem}")
      set(origin "fetched by tools/setup")
      mpsprobe_fetched(${name} ${MPSPROBE_${name}_PINNED} root problem)
      list(APPEND problems ${problem})
    endif()
  endif()
  set(${out_root} "${root}" PARENT_SCOPE)
  set(${out_origin} "${origin}" PARENT_SCOPE)
  set(${out_problems} "${problems}" PARENT_SCOPE)
endfunction()

# Prints the folder of what was located, or nothing; the reasons go to stderr. What LocateTorch.cmake and LocateMlx.cmake
# do as scripts.
function(mpsprobe_print_located name)
  mpsprobe_locate(${name} root origin problems)
  foreach(problem IN LISTS problems)
    message("${problem}")  # to stderr
  endforeach()
  if(root)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${root}")
  endif()
endfunction()
