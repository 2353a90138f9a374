# Libraries: an installed package first, otherwise the pinned release, where MPSPROBE_FETCH allows it.
include(FetchContent)
# What tools/setup --portable packed on another machine.
set(_portable ${PROJECT_SOURCE_DIR}/.deps/portable)
if(EXISTS ${_portable})
  list(PREPEND CMAKE_PREFIX_PATH ${_portable})
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# mpsprobe_dependency(PACKAGE <name> TARGET <target> [VERSION <minimum>] URL <url> SHA256 <hash>)
#   TARGET is what both the package and the sources must provide.
#   The sources' own tests and install rules are switched off by the cache variables set beside each call.
function(mpsprobe_dependency)
  cmake_parse_arguments(ARG "" "PACKAGE;TARGET;VERSION;URL;SHA256" "" ${ARGN})
  find_package(${ARG_PACKAGE} ${ARG_VERSION} QUIET)
  if(TARGET ${ARG_TARGET})
    return()
  endif()
  if(NOT MPSPROBE_FETCH)
    message(FATAL_ERROR "${ARG_PACKAGE} ${ARG_VERSION} is not installed and MPSPROBE_FETCH is off. "
                        "Run tools/setup, or install it with your package manager.")
  endif()
  message(STATUS "${ARG_PACKAGE} is not installed: fetching ${ARG_URL}")
  FetchContent_Declare(${ARG_PACKAGE} URL ${ARG_URL} URL_HASH SHA256=${ARG_SHA256})
  FetchContent_MakeAvailable(${ARG_PACKAGE})
  if(NOT TARGET ${ARG_TARGET})
    message(FATAL_ERROR "${ARG_URL} does not provide ${ARG_TARGET}. "
                        "Install ${ARG_PACKAGE} with your package manager (tools/setup does).")
  endif()
  # Warnings in its headers are not ours, just as those of an installed package.
  set(target ${ARG_TARGET})
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(folders)
    set_property(TARGET ${target} PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
  endif()
endfunction()

if(MPSPROBE_SELF_CONTAINED)
  include(SelfContained)
endif()

mpsprobe_dependency(PACKAGE CLI11 TARGET CLI11::CLI11 VERSION 2.1
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.7.2.tar.gz
  SHA256 46eef3101da70852ec7af026e09d485ccee81813331c8c6052d39344443b83da)

set(JSON_BuildTests OFF CACHE INTERNAL "")
mpsprobe_dependency(PACKAGE nlohmann_json TARGET nlohmann_json::nlohmann_json VERSION 3.10
  URL https://github.com/nlohmann/json/releases/download/v3.12.0/json.tar.xz
  SHA256 42f6e95cad6ec532fd372391373363b62a14af6d771056dbfc86160e6dfff7aa)

mpsprobe_dependency(PACKAGE fmt TARGET fmt::fmt-header-only VERSION 8
  URL https://github.com/fmtlib/fmt/archive/refs/tags/12.2.0.tar.gz
  SHA256 8b852bb5aa6e7d8564f9e81394055395dd1d1936d38dfd3a17792a02bebd7af0)
# mpsprobe::fmt is its headers alone, so that nothing else has to be there when the programs run. To compile them
# takes each source several times as long as those of the library, so builds that stay where they are take that one.
# What includes LibTorch has to take the headers: they are LibTorch's own there, of another release.
add_library(mpsprobe_fmt INTERFACE)
add_library(mpsprobe::fmt ALIAS mpsprobe_fmt)
if(MPSPROBE_COMPILED_FMT AND TARGET fmt::fmt)
  target_link_libraries(mpsprobe_fmt INTERFACE fmt::fmt)
else()
  target_link_libraries(mpsprobe_fmt INTERFACE fmt::fmt-header-only)
endif()

# Boost.Math alone where Boost is missing: it works without the rest, which is 150 MB.
find_path(MPSPROBE_BOOST_INCLUDE boost/math/distributions/binomial.hpp
          DOC "Folder that holds boost/math/distributions/binomial.hpp")
mark_as_advanced(MPSPROBE_BOOST_INCLUDE)
if(NOT MPSPROBE_BOOST_INCLUDE)
  if(NOT MPSPROBE_FETCH)
    message(FATAL_ERROR "Boost's headers are not installed and MPSPROBE_FETCH is off. "
                        "Run tools/setup, or install them with your package manager.")
  endif()
  message(STATUS "Boost is not installed: fetching Boost.Math")
  # SOURCE_SUBDIR names no folder: headers are all that is wanted, its CMake project is not.
  FetchContent_Declare(boost_math
    URL https://github.com/boostorg/math/archive/refs/tags/boost-1.83.0.tar.gz
    URL_HASH SHA256=53e5f7539a66899fe0fca3080405cbd5f7959da5394ec13664746741aece1705
    SOURCE_SUBDIR none)
  FetchContent_MakeAvailable(boost_math)
endif()
if(NOT TARGET Boost::headers)
  add_library(Boost::headers INTERFACE IMPORTED GLOBAL)
  if(MPSPROBE_BOOST_INCLUDE)
    set_target_properties(Boost::headers PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${MPSPROBE_BOOST_INCLUDE}")
  else()
    set_target_properties(Boost::headers PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${boost_math_SOURCE_DIR}/include"
      INTERFACE_COMPILE_DEFINITIONS BOOST_MATH_STANDALONE=1)
  endif()
endif()

# mpsprobe_system_library(<target> NAME <name> HEADER <header> LIBRARIES <library>... [KEG <formula>] DEBIAN <package>
# FEDORA <package>): one that is not fetched: every distribution has it. A formula's home is apart from the rest (keg-only).
function(mpsprobe_system_library target)
  cmake_parse_arguments(ARG "" "NAME;HEADER;KEG;DEBIAN;FEDORA" "LIBRARIES" ${ARGN})
  set(homes /opt/homebrew/opt/${ARG_KEG} /usr/local/opt/${ARG_KEG})
  string(TOUPPER "MPSPROBE_${ARG_NAME}" variable)
  find_path(${variable}_INCLUDE ${ARG_HEADER} HINTS ${homes} PATH_SUFFIXES include DOC "Folder that holds ${ARG_HEADER}")
  mark_as_advanced(${variable}_INCLUDE)
  set(files "")
  foreach(library IN LISTS ARG_LIBRARIES)
    string(MAKE_C_IDENTIFIER "${variable}_${library}" file)
    if(APPLE AND NOT library MATCHES "\\.a$")
      # The system's own where it has one: Homebrew's would have to be wherever the programs run.
      find_library(${file} ${library} DOC "${ARG_NAME}")
    endif()
    find_library(${file} ${library} HINTS ${homes} PATH_SUFFIXES lib DOC "${ARG_NAME}")
    mark_as_advanced(${file})
    if(NOT ${variable}_INCLUDE OR NOT ${file})
      message(FATAL_ERROR "${ARG_NAME} is not installed. Run tools/setup, or install it with your package manager: "
                          "${ARG_DEBIAN} (Debian, Ubuntu), ${ARG_KEG} (Homebrew), ${ARG_FEDORA} (Fedora).")
    endif()
    list(APPEND files "${${file}}")
  endforeach()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${${variable}_INCLUDE}" INTERFACE_LINK_LIBRARIES "${files}")
  if(files MATCHES "^${_portable}/")
    list(GET files 0 file)
    get_filename_component(folder ${file} DIRECTORY)
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_OPTIONS "LINKER:-rpath,${folder}")
  endif()
endfunction()

# Names the functions in ELF images.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  mpsprobe_system_library(mpsprobe_libdw NAME libdw HEADER elfutils/libdw.h LIBRARIES dw elf
                          DEBIAN libdw-dev KEG none FEDORA elfutils-devel)
endif()

# Packs bundles, and hashes what is in them. macOS brings the library without its headers.
if(NOT TARGET LibArchive::LibArchive)
  mpsprobe_system_library(LibArchive::LibArchive NAME libarchive HEADER archive_entry.h LIBRARIES archive
                          DEBIAN libarchive-dev KEG libarchive FEDORA libarchive-devel)
endif()

# Matches the rules that title failures (harness/signature).
if(MPSPROBE_PCRE2_SOURCE AND NOT TARGET mpsprobe_pcre2)
  include(StaticPcre2)
elseif(NOT TARGET mpsprobe_pcre2)
  set(_pcre2 pcre2-8)
  if(APPLE)  # Homebrew's archive: other Macs lack its library
    set(_pcre2 libpcre2-8.a)
  endif()
  mpsprobe_system_library(mpsprobe_pcre2 NAME pcre2 HEADER pcre2.h LIBRARIES ${_pcre2}
                          DEBIAN libpcre2-dev KEG pcre2 FEDORA pcre2-devel)
endif()

if(MPSPROBE_BUILD_TESTS)
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  mpsprobe_dependency(PACKAGE GTest TARGET GTest::gmock VERSION 1.11
    URL https://github.com/google/googletest/archive/refs/tags/v1.18.0.tar.gz
    SHA256 6e3191c1455468b3fc35a417fb565c1c5071aee1b7e7f85e30cf48a98d37d8b5)
endif()
