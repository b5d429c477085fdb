# The table's part of softmax cross-entropy; kernels.cmake includes it.

kernel_family(softmax_cross_entropy)

set(types TYPES f32 f16 bf16)
kernel(softmax_cross_entropy rows ALGORITHM rows SCHEDULE cpu ${types} DEVICES cpu)
