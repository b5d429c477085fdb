# hk_precompile_headers(TARGET HEADER…): reading them takes longer than compiling most of what includes them.
function(hk_precompile_headers target)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # ccache asks for it.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# hk_reuse_headers(TARGET FROM): what FROM, a library, has precompiled. Both need one level of optimisation (GCC 12 crashes
# on another), and the code of libraries: that of programs, -fPIE, reads the headers once more. So does a target without a
# macro that FROM defines: that is an error, not a slower build.
function(hk_reuse_headers target from)
    target_precompile_headers(${target} REUSE_FROM ${from})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
        $<$<CXX_COMPILER_ID:GNU>:-Werror=invalid-pch>)
endfunction()

# GCC collects its garbage when its heap has grown to 128 MB, of which precompiled headers fill most.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)

# hk_add_standard_headers(TARGET): what most sources of the library read of the standard's, to reuse.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/standard_headers.cpp CONTENT "")  # written once: a new one compiles all again
function(hk_add_standard_headers target)
    add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/standard_headers.cpp)
    hk_precompile_headers(${target} <algorithm> <functional> <memory> <span> <string> <vector>)
endfunction()
