# The table's part of pooling; kernels.cmake includes it, with what is set there. average: 0 is max.

foreach(pass pool2d pool2d_backward)
    set(HK_FIXED_FIELDS_${pass} kernel_w kernel_h stride_x stride_y padding)
endforeach()
kernel_family(pool2d)
kernel_family(pool2d_backward LIBRARY pool2d USES pool2d)

set(types TYPES f32 f16 bf16)
set(kernel_2x2_s2 kernel_w=2 kernel_h=2 ${stride_2} padding=0)
set(max ALGORITHM max ${types} ${both})
set(average ALGORITHM average ${types} ${both})
set(on_cpu SCHEDULE cpu DEVICES cpu)
kernel(pool2d max_2x2 ${max} ${on_cpu} WHERE average=0 ${kernel_2x2_s2})
foreach(pass pool2d pool2d_backward)
    kernel(${pass} max ${max} ${on_cpu} WHERE average=0)
    kernel(${pass} average ${average} ${on_cpu} WHERE average=1)
endforeach()

# GPU: an element a thread. Budgets are what was measured, registers rounded up to a multiple of 8.
set(on_gpu SCHEDULE gpu_unstaged DEVICES cuda opencl)
kernel(pool2d max ${max} ${on_gpu} BUDGET shared:0,registers:32 WHERE average=0)
kernel(pool2d average ${average} ${on_gpu} BUDGET shared:0,registers:32 WHERE average=1)
kernel(pool2d_backward max ${max} ${on_gpu} BUDGET shared:0,registers:40 WHERE average=0)
kernel(pool2d_backward average ${average} ${on_gpu} BUDGET shared:0,registers:40 WHERE average=1)
