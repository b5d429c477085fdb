# The table's part of pooling; kernels.cmake includes it, with what is set there. average: 0 is max.

foreach(pass pool2d pool2d_backward)
    set(HK_FIXED_FIELDS_${pass} kernel_w kernel_h stride_x stride_y padding)
endforeach()
kernel_family(pool2d)
kernel_family(pool2d_backward LIBRARY pool2d USES pool2d)

set(types TYPES f32 f16 bf16)
set(kernel_2x2_s2 kernel_w=2 kernel_h=2 ${stride_2} padding=0)
set(max ALGORITHM max ${types})
set(average ALGORITHM average ${types})
# Sums of more terms are added up in blocks (generators/long_sum.h): by a CPU's last row, by all rows of a GPU.
set(few_pixels pixels_in_sum<=16384)
set(few_windows windows_in_sum<=16384)
set(on_cpu SCHEDULE cpu DEVICES cpu)
set(by_rows SCHEDULE cpu_by_rows DEVICES cpu ${types} LAYOUTS nchw)
kernel(pool2d max_2x2 ${max} LAYOUTS nhwc ${on_cpu} WHERE average=0 ${kernel_2x2_s2})
# narrow: with vectors of 16 explorer run pool2d CASE --layout nchw --knobs lanes:16 has 0.69 of the speed
# (max_n64_8x8_32_2x2_s2), 0.88 (average_7x7_1280_7x7_s1).
kernel(pool2d max_2x2_narrow ALGORITHM max_by_rows ${by_rows} KNOBS lanes:8
    WHERE average=0 ${kernel_2x2_s2} out_w<=35)
kernel(pool2d max_2x2 ALGORITHM max_by_rows ${by_rows} WHERE average=0 ${kernel_2x2_s2})
kernel(pool2d max ${max} LAYOUTS nhwc ${on_cpu} WHERE average=0)
kernel(pool2d max ALGORITHM max_by_rows ${by_rows} WHERE average=0)
kernel(pool2d average ${average} LAYOUTS nhwc ${on_cpu} WHERE average=1 ${few_pixels})
kernel(pool2d average_narrow ALGORITHM average_by_rows ${by_rows} KNOBS lanes:8
    WHERE average=1 ${few_pixels} out_w<=35)
kernel(pool2d average ALGORITHM average_by_rows ${by_rows} WHERE average=1 ${few_pixels})
kernel(pool2d_backward max_2x2 ${max} LAYOUTS nhwc ${on_cpu} WHERE average=0 ${kernel_2x2_s2})
kernel(pool2d_backward max_2x2_narrow ALGORITHM max_by_rows ${by_rows} KNOBS lanes:8
    WHERE average=0 ${kernel_2x2_s2} width<=16)
kernel(pool2d_backward max_2x2 ALGORITHM max_by_rows ${by_rows} WHERE average=0 ${kernel_2x2_s2})
kernel(pool2d_backward max ${max} LAYOUTS nhwc ${on_cpu} WHERE average=0 ${few_windows})
kernel(pool2d_backward max ALGORITHM max_by_rows ${by_rows} WHERE average=0 ${few_windows})
kernel(pool2d_backward average ${average} LAYOUTS nhwc ${on_cpu} WHERE average=1 ${few_windows})
kernel(pool2d_backward average ALGORITHM average_by_rows ${by_rows} WHERE average=1 ${few_windows})
set(long SCHEDULE cpu_in_blocks ${types} ${both} DEVICES cpu)
kernel(pool2d average_long ALGORITHM average_in_blocks ${long} WHERE average=1)
kernel(pool2d_backward max_long ALGORITHM max_in_blocks ${long} WHERE average=0)
kernel(pool2d_backward average_long ALGORITHM average_in_blocks ${long} WHERE average=1)

# GPU: an element a thread, sums in blocks. Budgets are what was measured, registers rounded up to a multiple of 8.
set(on_gpu SCHEDULE gpu_unstaged DEVICES cuda opencl)
kernel(pool2d max ${max} ${both} ${on_gpu} BUDGET shared:0,registers:32 WHERE average=0)
kernel(pool2d average ALGORITHM average_in_blocks ${types} ${both} ${on_gpu}
    BUDGET shared:0,registers:32 WHERE average=1)
kernel(pool2d_backward max ALGORITHM max_in_blocks ${types} ${both} ${on_gpu}
    BUDGET shared:0,registers:64 WHERE average=0)
kernel(pool2d_backward average ALGORITHM average_in_blocks ${types} ${both} ${on_gpu}
    BUDGET shared:0,registers:56 WHERE average=1)
