# For programs that are cross-built here and run on another machine, whose copy of this checkout lies in MPSPROBE_RUN_AT:
# each path of the checkout that one was given when it was compiled or linked becomes one there.

# Libraries under test. Those of the build lie where @loader_path says.
foreach(_kind EXE SHARED MODULE)
  foreach(_library ${MPSPROBE_TORCH} ${MPSPROBE_MLX})
    string(REPLACE "${PROJECT_SOURCE_DIR}/" "${MPSPROBE_RUN_AT}/" _library "${_library}")
    string(APPEND CMAKE_${_kind}_LINKER_FLAGS " -Wl,-rpath,${_library}/lib")
  endforeach()
endforeach()

# mpsprobe_run_elsewhere(): what the targets were given, when all are known
function(mpsprobe_run_elsewhere)
  get_property(targets GLOBAL PROPERTY MPSPROBE_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    while(definitions MATCHES "\\$<TARGET_FILE:([^>]*)>")
      # Where a target will lie is not known before the end; its folder is (Layout.cmake).
      set(image ${CMAKE_MATCH_1})
      get_target_property(kind ${image} TYPE)
      set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
      if(kind STREQUAL "EXECUTABLE")
        set(folder ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
      endif()
      string(REPLACE "$<TARGET_FILE:${image}>" "${folder}/$<TARGET_FILE_NAME:${image}>" definitions "${definitions}")
    endwhile()
    if(definitions)
      string(REPLACE "${PROJECT_SOURCE_DIR}" "${MPSPROBE_RUN_AT}" definitions "${definitions}")
      set_target_properties(${target} PROPERTIES COMPILE_DEFINITIONS "${definitions}")
    endif()
  endforeach()
  # A script, with its paths written into it.
  set(script ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpsprobe-python-worker)
  if(EXISTS ${script})
    file(READ ${script} text)
    string(REPLACE "${PROJECT_SOURCE_DIR}" "${MPSPROBE_RUN_AT}" text "${text}")
    string(REPLACE "${MPSPROBE_PYTHON3_FOUND}" "python3" text "${text}")
    file(WRITE ${script} "${text}")
  endif()
endfunction()
