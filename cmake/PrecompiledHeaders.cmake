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
