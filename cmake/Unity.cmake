# Several sources in one run of the compiler: most of what it does for a source is to read headers and to make the same
# templates of them again (nlohmann/json, fmt, GoogleTest, LibTorch). That each source includes what it uses is what
# tools/check-tidy proves, which looks at each by itself.

# _mpsprobe_unity_batch(<target> <index> <source>...)
function(_mpsprobe_unity_batch target index)
  list(LENGTH ARGN count)
  if(count GREATER 1)
    # A source may belong to several targets of its folder: to each of them this is a name and no more.
    set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP ${target}_${index})
  endif()
endfunction()

# mpsprobe_unity(<target>): compiles its C++ sources together, in the order in which they are listed. What they define in
# anonymous namespaces has to have names of its own within the target: two that are the same do not compile, but of two
# functions that differ in their parameters the other file's could be taken. A folder stays together where it can.
function(mpsprobe_unity target)
  if(NOT MPSPROBE_UNITY)
    return()
  endif()
  # Enough to share what is read, and few enough for several processors to have some.
  set(most 24)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(folders "")
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    if(NOT folder IN_LIST folders)
      list(APPEND folders ${folder})
      set(${folder} "")
    endif()
    list(APPEND ${folder} ${source})
  endforeach()
  set(index 0)
  set(batch "")
  foreach(folder IN LISTS folders)
    list(LENGTH batch filled)
    list(LENGTH ${folder} count)
    math(EXPR together "${filled} + ${count}")
    if(filled GREATER 0 AND together GREATER most)
      _mpsprobe_unity_batch(${target} ${index} ${batch})
      math(EXPR index "${index} + 1")
      set(batch "")
    endif()
    list(APPEND batch ${${folder}})
    list(LENGTH batch filled)
    while(filled GREATER most)
      # Parts of equal size.
      math(EXPR size "${filled} / ((${filled} + ${most} - 1) / ${most})")
      list(SUBLIST batch 0 ${size} part)
      list(SUBLIST batch ${size} -1 batch)
      _mpsprobe_unity_batch(${target} ${index} ${part})
      math(EXPR index "${index} + 1")
      list(LENGTH batch filled)
    endwhile()
  endforeach()
  _mpsprobe_unity_batch(${target} ${index} ${batch})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # gcc takes every file but the one that it was given for a header, in which a class of one file is a mistake.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endfunction()
