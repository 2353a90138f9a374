# What a worker does with LibTorch: operations, models, backends, provenance. Needs LibTorch::cpu.
# Relative paths are those of this folder, whoever includes the file.
set(mpsprobe_torch_sources
  torch_program.cpp
  backends/backend.cpp backends/cpu.cpp backends/cuda.cpp backends/other_worker.cpp backends/sim.cpp
  models/layers.cpp models/models.cpp models/stacked_models.cpp
  operations/attention.cpp operations/compare.cpp operations/creation.cpp operations/elementwise.cpp operations/mixes.cpp
  operations/products.cpp operations/random.cpp operations/selftests.cpp operations/sizes.cpp operations/table.cpp
  operations/torch_errors.cpp
  operations/torch_workload.cpp
  provenance/provenance.cpp)
if(APPLE)
  list(APPEND mpsprobe_torch_sources backends/mps.cpp backends/mps_machine_apple.cpp observer/extensions/extension.mm)
endif()
list(TRANSFORM mpsprobe_torch_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
# Not a definition on the command line: another path would compile everything anew.
set(_built_against ${MPSPROBE_TORCH_ROOT}/lib/libtorch_cpu${CMAKE_SHARED_LIBRARY_SUFFIX})
file(CONFIGURE OUTPUT built_against.cpp @ONLY CONTENT [[
#include "scenarios/provenance/provenance.h"
const char* const mpsprobe::kTorchBuiltAgainst = "@_built_against@";
]])

mpsprobe_library(torch
  SOURCES ${mpsprobe_torch_sources} ${CMAKE_CURRENT_BINARY_DIR}/built_against.cpp
  LIBRARIES mpsprobe::worker mpsprobe::comparison mpsprobe::loaded_image LibTorch::cpu nlohmann_json::nlohmann_json fmt::fmt-header-only
            ${CMAKE_DL_LIBS})
if(APPLE)
  target_link_libraries(mpsprobe_torch PUBLIC mpsprobe::objective_c)
endif()
# Elsewhere the backend mps is in one of two forms: absent, or, in a worker of its own, on the stand-in. Objects,
# since what they are called from is in the library that they call.
set(mpsprobe_no_mps "")
if(NOT APPLE)
  add_library(mpsprobe_no_mps OBJECT ${CMAKE_CURRENT_LIST_DIR}/backends/mps_elsewhere.cpp)
  mpsprobe_target_defaults(mpsprobe_no_mps)
  target_link_libraries(mpsprobe_no_mps PRIVATE mpsprobe::torch)
  set(mpsprobe_no_mps $<TARGET_OBJECTS:mpsprobe_no_mps>)
endif()

mpsprobe_test(torch_operations_test ONE_PROCESS
  SOURCES ${mpsprobe_no_mps} ${CMAKE_CURRENT_LIST_DIR}/operations/operations_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/operations/aten_calls_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/operations/compare_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/operations/path_choice_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/operations/torch_errors_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/operations/torch_workload_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/provenance/provenance_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/torch_program_test.cpp
  LIBRARIES mpsprobe::torch)

# What the Python worker's table is held against.
if(MPSPROBE_BUILD_TESTS)
  mpsprobe_program(mpsprobe-torch-numbers
    SOURCES ${mpsprobe_no_mps} ${CMAKE_CURRENT_LIST_DIR}/operations/torch_numbers_for_tests.cpp LIBRARIES mpsprobe::torch)
endif()
