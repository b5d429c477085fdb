# THE TABLE: every kernel that is built, most specific first. cmake/AddKernel.cmake explains a row.

set(HK_FIXED_FIELDS_conv2d kernel_w kernel_h stride_x stride_y dilation_x dilation_y padding
    channels_per_group filters_per_group)

kernel_family(conv2d)

set(types TYPES f32 f16 bf16)
set(one_tap kernel_w=1 kernel_h=1 padding=0)
set(three_by_three kernel_w=3 kernel_h=3 dilation_x=1 dilation_y=1)
set(depthwise channels_per_group=1 filters_per_group=1)

# CPU
kernel(conv2d depthwise3x3_s1 ALGORITHM depthwise SCHEDULE cpu ${types} LAYOUTS nhwc DEVICES cpu
    WHERE ${depthwise} ${three_by_three} stride_x=1 stride_y=1 groups>=32 out_w>=7)
kernel(conv2d any ALGORITHM packed SCHEDULE cpu ${types} LAYOUTS nhwc nchw DEVICES cpu)
