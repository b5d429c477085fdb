# The table's part of softmax cross-entropy; kernels.cmake includes it.

kernel_family(softmax_cross_entropy)

set(types TYPES f32 f16 bf16)
set(rows ALGORITHM rows ${types})
kernel(softmax_cross_entropy rows ${rows} SCHEDULE cpu DEVICES cpu)

# GPU: a block of threads a row, a warp of them for short ones; last a thread a row, which stages nothing.
# Budgets are what was measured, registers rounded up to a multiple of 8.
set(on_gpu DEVICES cuda opencl)
kernel(softmax_cross_entropy block ${rows} SCHEDULE gpu ${on_gpu} BUDGET shared:2176,registers:32
    WHERE classes>=257)
kernel(softmax_cross_entropy warp ${rows} SCHEDULE gpu KNOBS lanes:32 ${on_gpu} BUDGET shared:272,registers:32)
kernel(softmax_cross_entropy unstaged ${rows} SCHEDULE gpu_unstaged ${on_gpu} BUDGET shared:0,registers:32)
