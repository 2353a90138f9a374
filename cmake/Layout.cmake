# Where programs and their data lie. The build tree has the layout of an installation (bin, lib,
# share/mpsprobe), so that a program finds its worker, its library and its data in one way:
# relative to itself, ../lib and ../share/mpsprobe.
#
# Not lib64 or lib/x86_64-linux-gnu: programs look for ../lib, wherever the folder is moved to.
set(CMAKE_INSTALL_LIBDIR lib)
# A wheel has the same folders, which pip lays into those of the environment.
if(SKBUILD)
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_LIBDIR ${SKBUILD_DATA_DIR}/lib)
  set(CMAKE_INSTALL_DATADIR ${SKBUILD_DATA_DIR}/share)
endif()
include(GNUInstallDirs)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Our own library relative to the program; cmake/LibTorch.cmake adds LibTorch, which is not ours to move.
if(APPLE)
  set(CMAKE_INSTALL_RPATH "@loader_path/../lib")
else()
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
endif()
# The layouts are the same, so the build tree can have the same RPATH. (Otherwise CMake leaves room for it
# with empty entries, each of which makes the loader search the current folder.)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# Data folder -> its place in the source tree. Links in the build tree: an edited file is in force at once.
set(_mpsprobe_data
  matrices scenarios/matrices
  expectations scenarios/expectations
  profiles scenarios/sim/profiles
  programs reproducers/programs
  # For workers that others write: `mpsprobe new worker`, and the headers of find_package(mpsprobe).
  worker scenarios/worker/template
  include scenarios/worker/include
  # What a program against Metal is compiled with where there is no Apple SDK.
  frameworks scenarios/frameworks
  gnustep scenarios/sim/face/gnustep)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/mpsprobe)
while(_mpsprobe_data)
  list(POP_FRONT _mpsprobe_data _name _folder)
  if(NOT EXISTS "${PROJECT_BINARY_DIR}/share/mpsprobe/${_name}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${_folder}"
         "${PROJECT_BINARY_DIR}/share/mpsprobe/${_name}" SYMBOLIC)
  endif()
  install(DIRECTORY ${_folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mpsprobe/${_name} COMPONENT wheel
          FILES_MATCHING PATTERN "*.json" PATTERN "*.h" PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.mm" PATTERN "*.py" PATTERN "*.mustache"
                         PATTERN "CMakeLists.txt")
endwhile()

# find_package(mpsprobe), which looks into share of what CMAKE_PREFIX_PATH names.
include(CMakePackageConfigHelpers)
set(_package ${PROJECT_BINARY_DIR}/share/mpsprobe/cmake)
configure_file(${PROJECT_SOURCE_DIR}/cmake/package/mpsprobeConfig.cmake ${_package}/mpsprobeConfig.cmake COPYONLY)
write_basic_package_version_file(${_package}/mpsprobeConfigVersion.cmake VERSION ${PROJECT_VERSION}
                                 COMPATIBILITY SameMinorVersion)
install(DIRECTORY ${_package} DESTINATION ${CMAKE_INSTALL_DATADIR}/mpsprobe COMPONENT wheel)

# What programs of a wheel may link beside what every system has (tools/wheel/linked_test.py): libraries that
# cmake/SelfContained.cmake compiles in, and those that it lays beside them.
set(MPSPROBE_COMPILED_IN archive mbedcrypto pcre2-8)
set(MPSPROBE_LAID_BESIDE dw elf lzma bz2 zstd fmt)

# mpsprobe_stands_alone(<target>): without what nothing calls, and what names the folders of the machine that built it:
# what a debugger reads, and on a Mac the install name of a library
function(mpsprobe_stands_alone target)
  if(MPSPROBE_SELF_CONTAINED AND APPLE)
    set_target_properties(${target} PROPERTIES INSTALL_NAME_DIR "@rpath" BUILD_WITH_INSTALL_NAME_DIR ON)
    target_link_options(${target} PRIVATE LINKER:-S)
  elseif(MPSPROBE_SELF_CONTAINED)
    target_link_options(${target} PRIVATE LINKER:--gc-sections,--strip-debug)
  endif()
endfunction()

# mpsprobe_install(): install rules of the programs that this configuration builds. What serves without LibTorch, MLX
# and the simulated device makes the component wheel, and the target of that name.
function(mpsprobe_install)
  set(programs mpsprobe mpsprobe-worker mpsprobe-metal-worker mpsprobe-mps-worker mpsprobe-selftest-worker
               mpsprobe-sim-worker mpsprobe-command-worker mpsprobe_preload
               mpsprobe_sim
               mpsprobe_stand_in mpsprobe_stand_in_objects mpsprobe_metal_face mpsprobe_observer)
  set(in_wheel mpsprobe mpsprobe-selftest-worker mpsprobe-sim-worker mpsprobe-command-worker mpsprobe_preload)
  if(APPLE AND SKBUILD) # a quick build of the tree has them only where LibTorch is asked for
    list(APPEND in_wheel mpsprobe-metal-worker mpsprobe_observer)
  endif()
  add_custom_target(wheel)
  if(SKBUILD OR NOT CMAKE_CROSSCOMPILING) # else they would want a second build, for the machine that builds
    add_dependencies(wheel schemas)
  endif()
  foreach(target IN LISTS programs)
    if(NOT TARGET ${target})
      continue()
    endif()
    set(component Unspecified)
    if(target IN_LIST in_wheel)
      set(component wheel)
      add_dependencies(wheel ${target})
      mpsprobe_stands_alone(${target})
    endif()
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component}
                              LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component})
  endforeach()
  # The Python package looks for it beside itself.
  set(beside_package ${CMAKE_INSTALL_LIBDIR})
  if(SKBUILD)
    set(beside_package ${SKBUILD_PLATLIB_DIR}/mpsprobe)
  endif()
  add_dependencies(wheel mpsprobe_c_worker)
  mpsprobe_stands_alone(mpsprobe_c_worker)
  install(TARGETS mpsprobe_c_worker LIBRARY DESTINATION ${beside_package} COMPONENT wheel)
  install(DIRECTORY scenarios/worker/include/mpsprobe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  if(TARGET LibTorch::cuda)
    install(TARGETS mpsprobe_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  list(TRANSFORM in_wheel REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  foreach(names files MPSPROBE_COMPILED_IN MPSPROBE_LAID_BESIDE)
    list(TRANSFORM ${names} REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE ${names}_quoted)
    list(JOIN ${names}_quoted ", " ${names}_quoted)
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/wheel-parts.json CONTENT
"{\"programs\": [${files_quoted}], \"library\": \"$<TARGET_FILE:mpsprobe_c_worker>\",
 \"compiled_in\": [${MPSPROBE_COMPILED_IN_quoted}], \"beside\": [${MPSPROBE_LAID_BESIDE_quoted}]}
")
  if(MPSPROBE_SELF_CONTAINED)
    set(without_names LINKER:-x)
    if(NOT APPLE)
      set(without_names LINKER:-s)
      mpsprobe_install_beside(${in_wheel})
    endif()
    target_link_options(mpsprobe PRIVATE ${without_names})  # in no stack that a report shows
  endif()
endfunction()
