# Programs that run on a machine where nothing was installed for them: what the wheel is made of (tools/build-wheel).
# PCRE2 and libarchive go into the program; libdw, whose licence asks that a user can replace it, and what libdw
# needs lie beside it, in lib/mpsprobe. Everything else is the system's: libc, libm, zlib, the C++ runtime.
# tools/setup --wheel brings the static libraries and the sources. A Mac has all of them in its system but PCRE2, which its
# build compiles in (cmake/StaticPcre2.cmake).
include(Licences)
mpsprobe_contains(libpcre2-8-0 PCRE2 "compiled in, 3-clause BSD")
if(APPLE)
  mpsprobe_install_licences()
  return()
endif()

# So that the linker can leave out what a program does not call.
add_compile_options(-ffunction-sections -fdata-sections)

# mpsprobe_static_library(<target> <package of Debian> <library>...): an imported target of static libraries
function(mpsprobe_static_library target package)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(_found "")
  foreach(_name IN LISTS ARGN)
    if(NOT _name IN_LIST MPSPROBE_COMPILED_IN)
      message(FATAL_ERROR "MPSPROBE_COMPILED_IN does not name ${_name}, which this compiles in.")
    endif()
    find_library(MPSPROBE_STATIC_${_name} ${_name} DOC "lib${_name}.a, for programs that stand alone")
    mark_as_advanced(MPSPROBE_STATIC_${_name})
    if(NOT MPSPROBE_STATIC_${_name})
      message(FATAL_ERROR "lib${_name}.a, the static library, is missing. Run tools/setup --wheel, or install it with "
                          "your package manager: ${package} (Debian, Ubuntu).")
    endif()
    list(APPEND _found "${MPSPROBE_STATIC_${_name}}")
  endforeach()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${_found}")
endfunction()

mpsprobe_static_library(mpsprobe_pcre2 libpcre2-dev pcre2-8)

# Debian's static libarchive wants XML, ICU and Nettle. Of what it can do a bundle needs ZIP, zlib and SHA-256, the last
# from Mbed TLS: the other libraries that have it are large, or ask what libdw's licence asks.
if(NOT EXISTS "${MPSPROBE_LIBARCHIVE_SOURCES}/CMakeLists.txt")
  message(FATAL_ERROR "The sources of libarchive are missing in ${MPSPROBE_LIBARCHIVE_SOURCES}. Run tools/setup --wheel, "
                      "or unpack a release there, or name its folder: -DMPSPROBE_LIBARCHIVE_SOURCES=DIR.")
endif()
mpsprobe_static_library(LibArchive::LibArchive libmbedtls-dev mbedcrypto)
find_package(ZLIB REQUIRED)
set(_libarchive ${PROJECT_BINARY_DIR}/libarchive)
set(_options "")
foreach(_part TEST INSTALL TAR CPIO CAT UNZIP OPENSSL LIBB2 LZ4 LZO LZMA ZSTD BZip2 LIBXML2 EXPAT NETTLE PCREPOSIX LIBGCC
              CNG XATTR ACL ICONV)
  list(APPEND _options -DENABLE_${_part}=OFF)
endforeach()
# Of Mbed TLS its CMake half finds SHA-256 and does not tell its sources so.
# Its own random numbers, not glibc's: that function came with 2.36, which would be the oldest system for a wheel. The
# name has to be another where glibc's header has it.
include(ExternalProject)
ExternalProject_Add(libarchive
  SOURCE_DIR ${MPSPROBE_LIBARCHIVE_SOURCES}
  BINARY_DIR ${_libarchive}
  PATCH_COMMAND sed -i s/arc4random_buf/own_random_buf/g libarchive/archive_random.c
  CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5
             -DENABLE_MBEDTLS=ON -DCMAKE_C_FLAGS=-DARCHIVE_CRYPTO_SHA256_MBEDTLS=1 -DHAVE_ARC4RANDOM_BUF=OFF -DMBEDCRYPTO_LIBRARY=${MPSPROBE_STATIC_mbedcrypto} ${_options}
             "-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}" "-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
  BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target archive_static
  INSTALL_COMMAND ""
  BUILD_BYPRODUCTS ${_libarchive}/libarchive/libarchive.a)
add_dependencies(LibArchive::LibArchive libarchive)
set_target_properties(LibArchive::LibArchive PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${MPSPROBE_LIBARCHIVE_SOURCES}/libarchive
  INTERFACE_LINK_LIBRARIES "${_libarchive}/libarchive/libarchive.a;${MPSPROBE_STATIC_mbedcrypto};ZLIB::ZLIB")
mpsprobe_contains(libarchive13 libarchive "compiled in, 2-clause BSD")
mpsprobe_contains(libmbedcrypto7 "Mbed TLS" "compiled in, Apache License 2.0 (Apache-2.0.txt)")

# mpsprobe_install_beside(<program>...): libdw and what it needs, in lib/mpsprobe, where these programs alone look
function(mpsprobe_install_beside)
  set(_programs "")
  foreach(_program IN LISTS ARGN)
    # RPATH, not RUNPATH: it counts for what libdw needs as well. The second is where they lie in a wheel that nobody has
    # installed yet: where auditwheel looks.
    set_target_properties(${_program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/mpsprobe:$ORIGIN/../data/lib/mpsprobe")
    target_link_options(${_program} PRIVATE LINKER:--disable-new-dtags)
    string(APPEND _programs " \"$<TARGET_FILE:${_program}>\"")
  endforeach()
  set(_beside ${CMAKE_INSTALL_LIBDIR}/mpsprobe)
  if(NOT IS_ABSOLUTE ${_beside})
    set(_beside "\${CMAKE_INSTALL_PREFIX}/${_beside}")
  endif()
  list(JOIN MPSPROBE_LAID_BESIDE "|" _names)
  # Copies under the names that the loader asks for: a wheel holds no links.
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES${_programs} RESOLVED_DEPENDENCIES_VAR libraries
         DIRECTORIES ${MPSPROBE_LIBRARY_FOLDERS}
         POST_INCLUDE_REGEXES \"/lib(${_names})[.]so\" POST_EXCLUDE_REGEXES \".*\")
    foreach(library IN LISTS libraries)
      get_filename_component(name \"\${library}\" NAME)
      file(REAL_PATH \"\${library}\" library)
      message(STATUS \"Installing: \${name} from \${library}\")
      configure_file(\"\${library}\" \"${_beside}/\${name}\" COPYONLY)
    endforeach()"
    COMPONENT wheel)
  set(_replaceable "a shared library in lib/mpsprobe, as it was: another of the same interface may take its place")
  mpsprobe_contains(libdw1 "libdw of elfutils" "${_replaceable}, GNU LGPL 3 or later (LGPL-3.txt, GPL-3.txt)")
  mpsprobe_contains(libelf1 "libelf of elfutils" "${_replaceable}, GNU LGPL 3 or later (LGPL-3.txt, GPL-3.txt)")
  mpsprobe_contains(liblzma5 liblzma "a shared library in lib/mpsprobe, public domain")
  mpsprobe_contains(libbz2-1.0 libbz2 "a shared library in lib/mpsprobe, the licence of bzip2")
  if(MPSPROBE_COMPILED_FMT)
    mpsprobe_contains(libfmt-dev libfmt "a shared library in lib/mpsprobe, MIT")
  endif()
  mpsprobe_install_licences(LGPL-3 GPL-3 Apache-2.0)
endfunction()
