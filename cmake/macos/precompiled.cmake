# LibTorch's headers, read once for a whole target: less than half of the time. For the second LibTorch alone: a
# header that was read for all hides that a source forgot to include what it uses, so the first build has none.

# mpsprobe_precompile_torch(): for each target of a few sources or more that depends on LibTorch
function(mpsprobe_precompile_torch)
  mpsprobe_targets_below(${CMAKE_SOURCE_DIR} targets)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count GREATER 4)
      mpsprobe_uses_torch(${target} uses_torch)
      if(uses_torch)
        target_precompile_headers(${target} PRIVATE <ATen/ATen.h>)
      endif()
    endif()
  endforeach()
endfunction()
