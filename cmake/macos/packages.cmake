# The libraries that the cross-build takes from Debian's packages, all of them headers or sources: the targets
# that cmake/Dependencies.cmake would otherwise look for, so that it finds them there. fmt alone is another: a Mac has
# the newest, which compiles less than Debian's, and LibTorch brings it along.
#
# /usr/include holds Linux's own headers as well, which must not be seen: the folders that are wanted are linked
# into one of our own, which all builds share, so that ccache knows an object from one in the other.
set(_headers ${CMAKE_SOURCE_DIR}/.deps/macos/include)
file(MAKE_DIRECTORY ${_headers})
foreach(_entry_and_package CLI:libcli11-dev nlohmann:nlohmann-json3-dev boost:libboost-dev
                           archive.h:libarchive-dev archive_entry.h:libarchive-dev)
  string(REPLACE ":" ";" _pair ${_entry_and_package})
  list(GET _pair 0 _entry)
  list(GET _pair 1 _package)
  if(NOT EXISTS /usr/include/${_entry})
    message(FATAL_ERROR "/usr/include/${_entry} of Debian's package ${_package} is missing. "
                        "Run tools/setup --macos, then try again.")
  endif()
  if(NOT EXISTS ${_headers}/${_entry})
    file(CREATE_LINK /usr/include/${_entry} ${_headers}/${_entry} SYMBOLIC)
  endif()
endforeach()
file(READ ${CMAKE_SOURCE_DIR}/.deps/macos/ready _torch)
string(REGEX REPLACE " .*" "" _torch "${_torch}")
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/.deps/macos/torch-${_torch}/include/fmt ${_headers}/fmt SYMBOLIC)
foreach(_target CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt-header-only Boost::headers)
  add_library(${_target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${_target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${_headers})
endforeach()
set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
set(MPSPROBE_BOOST_INCLUDE ${_headers} CACHE PATH "" FORCE)

# libarchive is in macOS, without its headers: Debian's, and a stub.
add_library(LibArchive::LibArchive INTERFACE IMPORTED GLOBAL)
set_target_properties(LibArchive::LibArchive PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${_headers} INTERFACE_LINK_LIBRARIES archive)

set(_googletest /usr/src/googletest)
if(NOT EXISTS ${_googletest}/googletest/src/gtest-all.cc)
  message(FATAL_ERROR "${_googletest} of Debian's package googletest is missing. "
                      "Run tools/setup --macos, then try again.")
endif()
add_library(googletest STATIC
  ${_googletest}/googletest/src/gtest-all.cc ${_googletest}/googlemock/src/gmock-all.cc)
add_library(googletest_main STATIC ${_googletest}/googletest/src/gtest_main.cc)
foreach(_target googletest googletest_main)
  target_compile_features(${_target} PRIVATE cxx_std_20)
  # Its warnings are not ours.
  target_compile_options(${_target} PRIVATE -w)
  target_include_directories(${_target} PRIVATE ${_googletest}/googletest ${_googletest}/googlemock)
  target_include_directories(${_target} SYSTEM PUBLIC
    ${_googletest}/googletest/include ${_googletest}/googlemock/include)
endforeach()
add_library(GTest::gmock ALIAS googletest)
add_library(GTest::gtest_main ALIAS googletest_main)
