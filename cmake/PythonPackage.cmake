# mpsprobe_python_package(<name> <out folder> <out origin> <out problem>): the folder of a package of the active Python,
# and what to call it; else why there is none. The package is not imported, which can take seconds; the current folder
# is not searched, since a folder there that happens to have the name is no installation.
function(mpsprobe_python_package name out_folder out_origin out_problem)
  set(${out_folder} "" PARENT_SCOPE)
  set(${out_origin} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  find_program(python NAMES python3 python NO_CACHE)
  if(NOT python)
    set(${out_problem} "no python3 in PATH" PARENT_SCOPE)
    return()
  endif()
  execute_process(
    COMMAND "${python}" -c "import sys
sys.path[:] = [p for p in sys.path if p]
import importlib.util
spec = importlib.util.find_spec('${name}')
print((list(spec.submodule_search_locations or []) or [''])[0] if spec else '')"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND NOT folder STREQUAL "")
    set(${out_folder} "${folder}" PARENT_SCOPE)
    set(${out_origin} "${name} of the active Python, ${python}" PARENT_SCOPE)
  else()
    set(${out_problem} "the active Python (${python}) has no ${name}" PARENT_SCOPE)
  endif()
endfunction()
