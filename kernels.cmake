# THE TABLE: every kernel that is built, most specific first. cmake/AddKernel.cmake explains a row.

set(HK_FIXED_FIELDS_conv2d kernel_w kernel_h stride_x stride_y dilation_x dilation_y padding
    channels_per_group filters_per_group)

kernel_family(conv2d)

set(types TYPES f32 f16 bf16)
set(both LAYOUTS nhwc nchw)
set(kernel_1x1 kernel_w=1 kernel_h=1 padding=0)
set(kernel_3x3 kernel_w=3 kernel_h=3 dilation_x=1 dilation_y=1)
set(stride_1 stride_x=1 stride_y=1)
set(stride_2 stride_x=2 stride_y=2)
set(depthwise channels_per_group=1 filters_per_group=1)

# CPU. Depthwise: vectors of groups (nhwc) or columns (nchw).
kernel(conv2d depthwise3x3_s1_small ALGORITHM depthwise SCHEDULE cpu KNOBS vectors:2 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} groups>=32 out_w>=7 out_w<=16)
kernel(conv2d depthwise3x3_s1 ALGORITHM depthwise SCHEDULE cpu KNOBS stage:0,tile_y:2 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} groups>=16 out_w>=7 out_h>=2)
kernel(conv2d depthwise3x3_s2 ALGORITHM depthwise SCHEDULE cpu KNOBS stage:0 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${depthwise} ${kernel_3x3} ${stride_2} groups>=16 out_w>=7)
kernel(conv2d depthwise ALGORITHM depthwise SCHEDULE cpu KNOBS tile_x:4 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${depthwise} groups>=16 out_w>=4)
kernel(conv2d depthwise3x3_s1 ALGORITHM depthwise SCHEDULE cpu ${types} LAYOUTS nchw DEVICES cpu
    WHERE ${depthwise} ${kernel_3x3} ${stride_1})
kernel(conv2d depthwise ALGORITHM depthwise SCHEDULE cpu ${types} LAYOUTS nchw DEVICES cpu
    WHERE ${depthwise})

# Few channels a group: vectors across groups (4, 8), or the sizes known to the compiler (16, 32).
kernel(conv2d grouped4_3x3_s1 ALGORITHM packed SCHEDULE cpu_grouped ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=4 filters_per_group=4 ${kernel_3x3} ${stride_1} groups>=4 out_w>=7)
kernel(conv2d grouped8_3x3_s1 ALGORITHM packed SCHEDULE cpu_grouped ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=8 filters_per_group=8 ${kernel_3x3} ${stride_1} groups>=2 out_w>=7)
kernel(conv2d grouped8_3x3_s2 ALGORITHM packed SCHEDULE cpu_grouped ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=8 filters_per_group=8 ${kernel_3x3} ${stride_2} groups>=2 out_w>=7)
kernel(conv2d grouped16_3x3 ALGORITHM packed SCHEDULE cpu_grouped KNOBS tile_y:2 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=16 filters_per_group=16 ${kernel_3x3} out_w>=7 out_h>=2)
kernel(conv2d grouped32_3x3 ALGORITHM packed SCHEDULE cpu_grouped ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=32 filters_per_group=32 ${kernel_3x3} out_w>=7)

# Long sums for few pixels: the filter is read as it is. Otherwise it is packed, once a call.
kernel(conv2d 1x1_dot ALGORITHM dot SCHEDULE cpu ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${kernel_1x1} ${stride_1} channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=5)
kernel(conv2d 3x3_dot ALGORITHM dot SCHEDULE cpu ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${kernel_3x3} channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=40)
kernel(conv2d 1x1 ALGORITHM packed SCHEDULE cpu KNOBS tile_x:14,tile_y:1 ${types} ${both} DEVICES cpu
    WHERE ${kernel_1x1})
kernel(conv2d 3x3 ALGORITHM packed SCHEDULE cpu ${types} ${both} DEVICES cpu
    WHERE ${kernel_3x3})
kernel(conv2d any ALGORITHM packed SCHEDULE cpu ${types} ${both} DEVICES cpu)

# GPU. Weights and input are staged in shared memory a slice of channels at a time.
set(gpu SCHEDULE gpu ${types} ${both} DEVICES cuda opencl)
kernel(conv2d depthwise ALGORITHM depthwise ${gpu} WHERE ${depthwise})
kernel(conv2d 1x1 ALGORITHM sliced ${gpu} WHERE ${kernel_1x1})
kernel(conv2d 3x3 ALGORITHM sliced ${gpu} WHERE ${kernel_3x3} ${stride_1})
kernel(conv2d any ALGORITHM sliced ${gpu})
