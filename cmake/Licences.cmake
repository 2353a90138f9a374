# What a wheel contains of others, and on which terms: the notices of Debian's packages, of which it is made, and a page
# that says which, how, and where their sources are.
set(_mpsprobe_licence_folder ${PROJECT_BINARY_DIR}/licences)
file(REMOVE_RECURSE ${_mpsprobe_licence_folder})
file(MAKE_DIRECTORY ${_mpsprobe_licence_folder})

# mpsprobe_contains(<package of Debian> <name of the software> <how and on which terms>): its notice goes along
function(mpsprobe_contains package name how)
  set(_notice /usr/share/doc/${package}/copyright)
  execute_process(COMMAND dpkg-query -W -f=\${source:Package}\ \${source:Version} ${package}
                  OUTPUT_VARIABLE _source ERROR_QUIET)
  if(NOT EXISTS ${_notice} OR NOT _source)
    message(FATAL_ERROR "The licence of ${name} is not in ${_notice}. A wheel with everything inside is made of Debian's "
                        "packages: run tools/setup --wheel on Debian or Ubuntu.")
  endif()
  configure_file(${_notice} ${_mpsprobe_licence_folder}/${package}.txt COPYONLY)
  set_property(GLOBAL APPEND_STRING PROPERTY MPSPROBE_CONTAINED
               "${name}: ${how}.\n    Notice: ${package}.txt. Source: ${_source}, of Debian.\n\n")
endfunction()

# mpsprobe_install_licences(<text>...): what has been named, and the texts of /usr/share/common-licenses
function(mpsprobe_install_licences)
  get_property(_contained GLOBAL PROPERTY MPSPROBE_CONTAINED)
  file(WRITE ${_mpsprobe_licence_folder}/THIRD-PARTY.txt
    "mpsprobe ${PROJECT_VERSION} is under the MIT licence (LICENSE). It contains software of others, on their terms, which "
    "are in the files beside this one.\n\n"
    "${_contained}")
  foreach(_text IN LISTS ARGN)
    configure_file(/usr/share/common-licenses/${_text} ${_mpsprobe_licence_folder}/${_text}.txt COPYONLY)
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/LICENSE ${_mpsprobe_licence_folder}/LICENSE COPYONLY)
  if(SKBUILD)
    install(DIRECTORY ${_mpsprobe_licence_folder}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT wheel)
  else()
    install(DIRECTORY ${_mpsprobe_licence_folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mpsprobe/licences
            COMPONENT wheel)
  endif()
endfunction()

foreach(_header "libcli11-dev;CLI11;compiled in, 3-clause BSD" "nlohmann-json3-dev;JSON for Modern C++;compiled in, MIT"
                "libfmt-dev;fmt;compiled in, MIT")
  mpsprobe_contains(${_header})
endforeach()
set_property(GLOBAL APPEND_STRING PROPERTY MPSPROBE_CONTAINED
  "Boost.Math: compiled in, Boost Software License 1.0, which asks for no notice with programs.\n\n")
