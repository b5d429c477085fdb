# hk_reuse_headers(TARGET FROM): what FROM, a library, has precompiled. Both need one level of optimisation (GCC 12 crashes
# on another), and the code of libraries: that of programs, -fPIE, reads the headers once more.
function(hk_reuse_headers target from)
    target_precompile_headers(${target} REUSE_FROM ${from})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
