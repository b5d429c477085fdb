# THE TABLE: every kernel that is built, a file a family in kernels/.
#
#   kernel_family(conv2d FIELDS convolution/fields.def)
#   term(stride_1 stride_x=1 stride_y=1)
#   #        row      algorithm  schedule   types         layouts    knobs     where
#   row(cpu  3x3      packed     broadcast  f32,f16,bf16  nhwc,nchw  tile_x:4  kernel_w=3 kernel_h=3 stride_1)
#   #        row      algorithm  schedule   types         layouts    knobs     budget                 where
#   row(gpu  staged   sliced     staged     f32           nhwc       -         shared:0,registers:72)
#
# A row is a kernel for each of its types, layouts and devices: cpu, cuda, opencl, or gpu for both of these; amx is a cpu
# that has registers of matrices, whose rows are built where the host is one. Rows stand in the order of preference, most
# specific first: selection takes the first that takes the problem and fits the device.
#
# layouts   any: of families without layouts.
# knobs     -: the schedule's own choice. tile_y:2/1: 1 on a CPU with one multiply-add a cycle, else 2.
# budget    of a GPU: the most shared bytes a block and registers a thread that any of the row's kernels may use; the
#           build fails over it. A stack frame, spills, or a number of shared bytes that is not a constant fail it anyway.
#           Behind it, as shared:0,registers:72,conflicts:1.0,sectors:1.1,fma:0.8, a contract on what CUDA's kernels are
#           counted to execute (docs/software-cuda.md), or a part of one, over which a test fails: at most, of what was
#           moved over the least, wavefronts of shared memory and sectors of global memory; at least, the share of
#           multiply-adds in the main loop.
# where     which problems the row takes: field=value field>=value field<=value field%value=0, or terms, which are names
#           for such conditions. Fields are those of the family's FIELDS, files in runtime/src; an equality on one that is
#           `known` there is known to the compiler too. never_selected: rows before it take all, and callers name it.

file(GLOB families CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/*.cmake)
foreach(family IN LISTS families)
    block()
        include(${family})
    endblock()
endforeach()
