# THE TABLE: every kernel that is built, most specific first; those of gradients, top-k and the tensor product in kernels/. cmake/AddKernel.cmake
# explains a row.

set(HK_FIXED_FIELDS_conv2d kernel_w kernel_h stride_x stride_y dilation_x dilation_y padding
    channels_per_group filters_per_group width out_w padding_left)

kernel_family(conv2d_filter LIBRARY conv2d)
kernel_family(conv2d USES conv2d_filter)

set(types TYPES f32 f16 bf16)
set(both LAYOUTS nhwc nchw)
set(kernel_1x1 kernel_w=1 kernel_h=1 padding=0)
set(kernel_3x3 kernel_w=3 kernel_h=3 dilation_x=1 dilation_y=1)
set(stride_1 stride_x=1 stride_y=1)
set(stride_2 stride_x=2 stride_y=2)
set(depthwise channels_per_group=1 filters_per_group=1)

# Sums of more than 32768 terms are added up in blocks (generators/long_sum.h), by a row of their own on the CPU, by the
# last rung on a GPU: no other row keeps their digits.
set(long WHERE depth>=32769)
set(short WHERE depth<=32768)
kernel(conv2d long ALGORITHM packed SCHEDULE cpu_blocks KNOBS tile_x:4,stage:0 ${types} ${both} DEVICES cpu ${long})

# CPU. Depthwise: vectors of groups (nhwc) or columns (nchw). The fixed widths are those of networks for
# pictures of 224 pixels: with the edges known, small images are up to 1.5 times as fast.
# groups_in_place is the number of groups where the output is in place of the residual, else 0. The last
# tiles and vectors begin before the end of those before them, and would add the residual twice: in place
# tiles end where the image does, and groups are whole vectors.
set(cpu_depthwise ALGORITHM depthwise SCHEDULE cpu DEVICES cpu)
set(apart groups_in_place<=0)
set(same_w7 ${stride_1} width=7 out_w=7 padding_left=1)
set(same_w14 ${stride_1} width=14 out_w=14 padding_left=1)
set(same_w28 ${stride_1} width=28 out_w=28 padding_left=1)
set(same_w56 ${stride_1} width=56 out_w=56 padding_left=1)
set(same_w112 ${stride_1} width=112 out_w=112 padding_left=1)
set(half_w14 ${stride_2} width=14 out_w=7 padding_left=1)
set(half_w28 ${stride_2} width=28 out_w=14 padding_left=1)
set(half_w56 ${stride_2} width=56 out_w=28 padding_left=1)
set(half_w112 ${stride_2} width=112 out_w=56 padding_left=1)
kernel(conv2d depthwise3x3_s1_w7 ${cpu_depthwise} TYPES f32 LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${same_w7} groups>=16 ${apart})
kernel(conv2d depthwise3x3_s1_w14 ${cpu_depthwise} KNOBS tile_x:14 TYPES f32 LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${same_w14} groups>=16 ${apart})
kernel(conv2d depthwise3x3_s1_w28 ${cpu_depthwise} KNOBS tile_y:2 TYPES f32 LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${same_w28} groups>=16 ${apart} out_h>=2)
foreach(width w14 w28 w56)
    kernel(conv2d depthwise3x3_s2_${width} ${cpu_depthwise} TYPES f32 LAYOUTS nhwc
        WHERE ${depthwise} ${kernel_3x3} ${half_${width}} groups>=16 ${apart})
endforeach()
kernel(conv2d depthwise3x3_s2_w112 ${cpu_depthwise} KNOBS tile_x:4,tile_y:2 TYPES f32 LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${half_w112} groups>=16 ${apart} out_h>=2)
kernel(conv2d depthwise3x3_s1_small ${cpu_depthwise} KNOBS vectors:2 ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} groups>=32 ${apart} out_w>=7 out_w<=16)
kernel(conv2d depthwise3x3_s1 ${cpu_depthwise} KNOBS stage:0,tile_y:2 ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} groups>=16 ${apart} out_w>=7 out_h>=2)
kernel(conv2d depthwise3x3_s2 ${cpu_depthwise} KNOBS stage:0,tile_x:4,tile_y:2 ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${stride_2} groups>=16 ${apart} out_w>=4 out_h>=2)
# Padded rows are copied, a vector of groups at a time: as below, unless that would take too much. A window that is
# spread over far more pixels than its taps meet is copied for little use: 256 groups at 33x33, 3x3, on one Zen 4 core,
# with a dilation of 18 (spread 152) nhwc 1.9 ms by these rows, 4.1 by `any`; 36 (592) 6.1 and 2.6.
set(bounded_rows copied<=1048576 spread<=256)
kernel(conv2d depthwise ${cpu_depthwise} KNOBS tile_x:4 ${types} LAYOUTS nhwc
    WHERE ${depthwise} groups>=16 ${apart} out_w>=4 ${bounded_rows})
kernel(conv2d depthwise_in_place ALGORITHM depthwise SCHEDULE cpu_in_place DEVICES cpu KNOBS tile_x:4 ${types}
    LAYOUTS nhwc WHERE ${depthwise} groups>=16 groups_in_place%16=0 ${bounded_rows})
kernel(conv2d depthwise3x3_s1 ${cpu_depthwise} ${types} LAYOUTS nchw
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} ${bounded_rows})
kernel(conv2d depthwise ${cpu_depthwise} ${types} LAYOUTS nchw
    WHERE ${depthwise} ${bounded_rows})

# Few channels a group: vectors across groups (4, 8), whose filters are so small that a task packs them, or
# the sizes known to the compiler (16, 32).
set(cpu_grouped ALGORITHM packed SCHEDULE cpu_grouped DEVICES cpu)
set(cpu_groups ALGORITHM grouped SCHEDULE cpu_grouped DEVICES cpu)
set(grouped_rows copied<=4194304)  # tens of megabytes, of four groups
set(grouped4 channels_per_group=4 filters_per_group=4 groups%4=0 ${grouped_rows})
kernel(conv2d grouped4_3x3_s1 ${cpu_groups} ${types} LAYOUTS nhwc
    WHERE ${grouped4} ${kernel_3x3} ${stride_1} out_w>=7)
set(grouped8 channels_per_group=8 filters_per_group=8 groups%2=0 ${grouped_rows})
set(grouped16 channels_per_group=16 filters_per_group=16 ${grouped_rows})
set(grouped32 channels_per_group=32 filters_per_group=32 ${grouped_rows})
# Fixed widths where they gain a tenth over the rows below (bench --list resnext50 --row …).
kernel(conv2d grouped16_3x3_s2_w28 ${cpu_grouped} TYPES f32 LAYOUTS nhwc
    WHERE ${grouped16} ${kernel_3x3} ${half_w28})
kernel(conv2d grouped32_3x3_s1_w7 ${cpu_grouped} TYPES f32 LAYOUTS nhwc
    WHERE ${grouped32} ${kernel_3x3} ${same_w7})
kernel(conv2d grouped16_3x3_s1_w14 ${cpu_grouped} KNOBS tile_x:14 TYPES f32 LAYOUTS nhwc
    WHERE ${grouped16} ${kernel_3x3} ${same_w14})
kernel(conv2d grouped8_3x3_s1 ${cpu_groups} ${types} LAYOUTS nhwc
    WHERE ${grouped8} ${kernel_3x3} ${stride_1} out_w>=7)
kernel(conv2d grouped8_3x3_s2 ${cpu_groups} KNOBS across:1,tile_x:14,depth:1 ${types} LAYOUTS nhwc
    WHERE ${grouped8} ${kernel_3x3} ${stride_2} out_w>=7)
kernel(conv2d grouped16_3x3 ${cpu_grouped} KNOBS tile_y:2 ${types} LAYOUTS nhwc
    WHERE ${grouped16} ${kernel_3x3} out_w>=7 out_h>=2)
kernel(conv2d grouped32_3x3 ${cpu_grouped} ${types} LAYOUTS nhwc
    WHERE ${grouped32} ${kernel_3x3} out_w>=7)

# Long sums for few pixels: the filter is read as it is. Otherwise it is packed, in each call unless it
# is prepared (hk/filter.h).
set(pointwise_dot ALGORITHM dot SCHEDULE cpu LAYOUTS nhwc DEVICES cpu
    WHERE prepared=0 ${kernel_1x1} ${stride_1} channels_per_group%16=0 filters_per_group%4=0)
kernel(conv2d 1x1_dot ${pointwise_dot} depth_per_pixel>=7 TYPES f32)
kernel(conv2d 1x1_dot ${pointwise_dot} depth_per_pixel>=5 TYPES f16 bf16)
kernel(conv2d 3x3_dot ALGORITHM dot SCHEDULE cpu ${types} LAYOUTS nhwc DEVICES cpu
    WHERE prepared=0 ${kernel_3x3} channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=40)
# A tile's input is copied, unless that would take more than some tens of megabytes.
# rgb: the first layer; a picture's three channels are no vector.
set(bounded_copy window<=1048576 copied<=16777216 spread<=4096 stride_x<=8 stride_y<=8)
kernel(conv2d rgb ALGORITHM packed SCHEDULE cpu KNOBS tile_x:8 ${types} LAYOUTS nhwc DEVICES cpu
    WHERE channels_per_group=3 ${bounded_copy})
kernel(conv2d rgb3x3 ALGORITHM packed SCHEDULE cpu KNOBS stage:0 TYPES f32 LAYOUTS nchw DEVICES cpu
    WHERE ${kernel_3x3} channels_per_group=3)
# Tiles of one vector by 4 to 8 pixels keep a core's multipliers as busy as larger ones, and end sooner:
# docs/performance.md has the ratios before and after. 1x1: passes of 8 blocks of filters stay in a core's cache
# (explorer run, 8x32_2048-4096 2.5 times as fast as without; 14x14_1024-1024 1.1).
set(packed ALGORITHM packed SCHEDULE cpu DEVICES cpu)
# 24 filters are three halves of a vector; a filter of 4 MB and more is read for half as many tiles. What they gain:
# explorer run conv2d mobilenetv2 (resnext50) --row 1x1.
kernel(conv2d 1x1_to_24 ${packed} KNOBS lanes:8,block:24,chunk:4,stage:0 TYPES f32 LAYOUTS nhwc
    WHERE ${kernel_1x1} filters_per_group=24)
kernel(conv2d 1x1_large ${packed} KNOBS block:32,chunk:4,outer:4,stage:0 TYPES f32 LAYOUTS nhwc
    WHERE ${kernel_1x1} channels_per_group>=1024 filters_per_group>=1024)
kernel(conv2d 1x1 ${packed} KNOBS chunk:4,outer:8,stage:0 TYPES f32 ${both} WHERE ${kernel_1x1})
kernel(conv2d 1x1 ${packed} KNOBS chunk:4,outer:8 TYPES f16 bf16 ${both} WHERE ${kernel_1x1})
kernel(conv2d 3x3_7 ${packed} TYPES f32 ${both} WHERE ${kernel_3x3} ${bounded_copy} out_w%7=0)
kernel(conv2d 3x3 ${packed} KNOBS tile_x:4 ${types} ${both} WHERE ${kernel_3x3} ${bounded_copy})
kernel(conv2d staged ${packed} KNOBS tile_x:4 ${types} ${both} WHERE ${bounded_copy})
kernel(conv2d any ${packed} KNOBS stage:0 ${types} ${both})

# What packs filters for the rows above.
kernel(conv2d_filter any ALGORITHM vectors SCHEDULE cpu ${types} ${both} DEVICES cpu)

# GPU: a ladder for each kind, from large tiles to none. Filters and input are staged in shared memory a
# slice of channels at a time; the last rung stages nothing and fits every device. Budgets are what was
# measured, registers rounded up to a multiple of 8. The large rungs and 3x3_small are for f32, few for
# f32 and f16, because an application with all rows has to stay under 8 MB.
set(gpu ALGORITHM sliced SCHEDULE gpu ${both} DEVICES cuda opencl)
set(short_gpu ${gpu} ${short})
set(large_3x3 KNOBS tile_k:128,tile_x:16,threads_x:8,threads_y:2 BUDGET shared:43776,registers:128)
set(large_1x1 KNOBS tile_k:128,tile_x:128 BUDGET shared:8320,registers:112)
set(few KNOBS tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8 BUDGET shared:8832,registers:80)
kernel(conv2d depthwise ALGORITHM depthwise SCHEDULE gpu ${types} ${both} DEVICES cuda opencl
    BUDGET shared:0,registers:40 ${short} ${depthwise})
kernel(conv2d 1x1_large ${short_gpu} TYPES f32 ${large_1x1} WHERE ${kernel_1x1} filters_per_group>=128 out_w>=512)
kernel(conv2d 1x1 ${short_gpu} ${types} BUDGET shared:4224,registers:72 WHERE ${kernel_1x1})
kernel(conv2d few ${short_gpu} TYPES f32 f16 ${few} WHERE filters_per_group<=16)
kernel(conv2d 3x3_large ${short_gpu} TYPES f32 ${large_3x3}
    WHERE ${kernel_3x3} ${stride_1} filters_per_group>=128 out_w>=28 out_h>=28)
kernel(conv2d 3x3 ${short_gpu} ${types} BUDGET shared:22784,registers:64 WHERE ${kernel_3x3} ${stride_1})
kernel(conv2d 3x3_small ${short_gpu} TYPES f32 KNOBS tile_c:4 BUDGET shared:11392,registers:64
    WHERE ${kernel_3x3} ${stride_1})
kernel(conv2d any ${short_gpu} ${types} BUDGET shared:4224,registers:80)
kernel(conv2d unstaged ALGORITHM sliced_blocks SCHEDULE gpu_unstaged ${types} ${both} DEVICES cuda opencl
    BUDGET shared:0,registers:72)

# Quantised convolution. Type: of the input; u8 stands for s8 too. output_bytes: 1 u8 or s8, 4 f32 or s32.
set(HK_FIXED_FIELDS_quantized_conv2d kernel_w kernel_h stride_x stride_y dilation_x dilation_y padding
    channels_per_group filters_per_group width out_w padding_left output_bytes)

kernel_family(quantized_conv2d)

set(types TYPES u8 f32)
set(rgb_3x3 channels_per_group=3 ${kernel_3x3} ${stride_2})
set(rgb_7x7 channels_per_group=3 kernel_w=7 kernel_h=7 ${stride_2} dilation_x=1 dilation_y=1)
foreach(bytes 1 4)
    math(EXPR bits "8 * ${bytes}")
    # Of f32, as conv2d's; integers lose nothing.
    kernel(quantized_conv2d long_to_${bits} ALGORITHM packed_blocks SCHEDULE cpu KNOBS block:16,tile_x:7,tile_y:1
        TYPES f32 ${both} DEVICES cpu ${long} output_bytes=${bytes})
    set(to_${bits} DEVICES cpu WHERE output_bytes=${bytes})
    set(quantized_depthwise ALGORITHM depthwise SCHEDULE cpu ${types} LAYOUTS nhwc ${to_${bits}} ${depthwise})
    foreach(row "w7 words:2,unroll:1" "w14 words:2,tile_x:14,unroll:1" "w28 words:2,tile_x:14,unroll:1"
                "w56 words:2,tile_x:14,unroll:1" "w112 words:2,tile_x:14")
        separate_arguments(row)
        list(POP_FRONT row width knobs)
        kernel(quantized_conv2d depthwise3x3_s1_${width}_to_${bits} KNOBS ${knobs} ${quantized_depthwise}
            ${kernel_3x3} ${same_${width}} groups>=16)
    endforeach()
    foreach(row "w14 words:2,unroll:1 16" "w28 words:2,unroll:1 16" "w56 words:2,unroll:1 16" "w112 words:2,vectors:2 32")
        separate_arguments(row)
        list(POP_FRONT row width knobs groups)
        kernel(quantized_conv2d depthwise3x3_s2_${width}_to_${bits} KNOBS ${knobs} ${quantized_depthwise}
            ${kernel_3x3} ${half_${width}} groups>=${groups})
    endforeach()
    kernel(quantized_conv2d depthwise3x3_s1_wide_to_${bits} KNOBS vectors:4,tile_x:4
        ALGORITHM depthwise SCHEDULE cpu TYPES u8 LAYOUTS nhwc ${to_${bits}} ${depthwise}
        ${kernel_3x3} ${stride_1} groups%64=0 out_w>=7)
    # nchw: channels are gathered. Vectors of columns were 1.8 times as fast at 112x112, 0.3 times at 7x7.
    set(any_depthwise ALGORITHM depthwise SCHEDULE cpu ${types} ${both} ${to_${bits}} ${depthwise})
    kernel(quantized_conv2d depthwise3x3_s1_to_${bits} ${any_depthwise} ${kernel_3x3} ${stride_1} groups>=16 out_w>=7)
    kernel(quantized_conv2d depthwise3x3_s2_to_${bits} ${any_depthwise} ${kernel_3x3} ${stride_2} groups>=16 out_w>=7)
    kernel(quantized_conv2d depthwise_to_${bits} KNOBS tile_x:1 ${any_depthwise} groups>=16)

    # Long sums for few pixels: the filter is read as it is.
    set(packed ALGORITHM packed SCHEDULE cpu LAYOUTS nhwc ${to_${bits}})
    set(dot ALGORITHM dot SCHEDULE cpu LAYOUTS nhwc ${to_${bits}} filters_per_group%4=0)
    set(dot_u8 ${dot} channels_per_group%64=0 depth_per_pixel>=16)
    set(dot_f32 ${dot} channels_per_group%16=0 depth_per_pixel>=40)
    kernel(quantized_conv2d 1x1_dot_to_${bits} TYPES u8 ${dot_u8} ${kernel_1x1} ${stride_1} out_w<=6)
    kernel(quantized_conv2d 3x3_dot_to_${bits} TYPES u8 ${dot_u8} ${kernel_3x3})
    kernel(quantized_conv2d 1x1_dot_to_${bits} TYPES f32 ${dot_f32} ${kernel_1x1} ${stride_1})
    kernel(quantized_conv2d 3x3_dot_to_${bits} TYPES f32 ${dot_f32} ${kernel_3x3})
    kernel(quantized_conv2d rgb3x3_s2_to_${bits} KNOBS stage:2 ${types} ${packed} ${rgb_3x3})
    kernel(quantized_conv2d rgb7x7_s2_to_${bits} KNOBS stage:2 ${types} ${packed} ${rgb_7x7})
    # outer: a block of filters is packed just before it is used. All packed first, 32 filters by 14 pixels, have 0.86 of
    # the speed, of f32 0.82: explorer run quantized_conv2d resnet50 mobilenetv2 --row 1x1_to_8 (--type f32 --row
    # 1x1_to_32) --knobs block:32,tile_x:14,tile_y:1,outer:0, geometric means.
    set(u8_blocks KNOBS tile_x:7,tile_y:1,outer:1 TYPES u8)
    set(f32_blocks KNOBS block:16,tile_x:7,tile_y:1,outer:1 TYPES f32)
    foreach(blocks u8_blocks f32_blocks)
        kernel(quantized_conv2d 1x1_to_${bits} ${${blocks}} ${packed} ${kernel_1x1})
    endforeach()
    kernel(quantized_conv2d 3x3_few_filters_to_${bits} KNOBS block:16,tile_x:14,tile_y:1,stage:2 TYPES u8
        ${packed} ${kernel_3x3} filters_per_group<=16)
    kernel(quantized_conv2d 3x3_to_${bits} ${u8_blocks} ${packed} ${kernel_3x3})
    kernel(quantized_conv2d 3x3_to_${bits} KNOBS block:16,tile_x:7,tile_y:1,stage:2 TYPES f32 ${packed}
        ${kernel_3x3})
    foreach(blocks u8_blocks f32_blocks)
        kernel(quantized_conv2d any_to_${bits} ALGORITHM packed SCHEDULE cpu ${${blocks}} ${both} ${to_${bits}})
    endforeach()
endforeach()

# GPU: a ladder as conv2d's, in words of four channels. Budgets are what was measured, registers rounded
# up to a multiple of 8. Tiles of bytes are a quarter as large, so that 3x3_small is for f32 alone.
set(few KNOBS tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8)
foreach(bytes 1 4)
    math(EXPR bits "8 * ${bytes}")
    set(to WHERE output_bytes=${bytes})
    kernel(quantized_conv2d depthwise_to_${bits} ALGORITHM sliced SCHEDULE gpu_depthwise ${types} ${both}
        DEVICES cuda opencl BUDGET shared:0,registers:40 ${to} ${short} ${depthwise})
    kernel(quantized_conv2d 1x1_to_${bits} ${gpu} TYPES u8 BUDGET shared:4096,registers:64 ${to} ${kernel_1x1})
    kernel(quantized_conv2d few_to_${bits} ${gpu} TYPES u8 ${few} BUDGET shared:4352,registers:80
        ${to} filters_per_group<=16)
    kernel(quantized_conv2d 3x3_to_${bits} ${gpu} TYPES u8 BUDGET shared:10816,registers:72
        ${to} ${kernel_3x3} ${stride_1})
    kernel(quantized_conv2d any_to_${bits} ${gpu} TYPES u8 BUDGET shared:2048,registers:96 ${to})
    kernel(quantized_conv2d 1x1_to_${bits} ${short_gpu} TYPES f32 BUDGET shared:4224,registers:64 ${to} ${kernel_1x1})
    kernel(quantized_conv2d few_to_${bits} ${short_gpu} TYPES f32 ${few} BUDGET shared:8832,registers:72
        ${to} filters_per_group<=16)
    kernel(quantized_conv2d 3x3_to_${bits} ${short_gpu} TYPES f32 BUDGET shared:22784,registers:64
        ${to} ${kernel_3x3} ${stride_1})
    kernel(quantized_conv2d 3x3_small_to_${bits} ${short_gpu} TYPES f32 KNOBS tile_c:1 BUDGET shared:11392,registers:64
        ${to} ${kernel_3x3} ${stride_1})
    kernel(quantized_conv2d any_to_${bits} ${short_gpu} TYPES f32 BUDGET shared:4224,registers:72 ${to})
    kernel(quantized_conv2d unstaged_to_${bits} ALGORITHM sliced SCHEDULE gpu_unstaged TYPES u8 ${both}
        DEVICES cuda opencl BUDGET shared:0,registers:72 ${to})
    kernel(quantized_conv2d unstaged_to_${bits} ALGORITHM sliced_blocks SCHEDULE gpu_unstaged TYPES f32 ${both}
        DEVICES cuda opencl BUDGET shared:0,registers:96 ${to})
endforeach()

# Gradients of a convolution.
include(kernels/conv2d_backward.cmake)

# Top-k.
include(kernels/topk.cmake)
include(kernels/topk_gpu.cmake)

# Tensor product.
include(kernels/tensor_product.cmake)

# Activations and updates.
include(kernels/elementwise.cmake)
# Pooling.
include(kernels/pool2d.cmake)

# Softmax cross-entropy.
include(kernels/softmax_cross_entropy.cmake)
