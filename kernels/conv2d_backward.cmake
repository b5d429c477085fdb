# The table's part of the gradients of a convolution; kernels.cmake includes it, with what is set there.

foreach(pass data weight bias)
    set(HK_FIXED_FIELDS_conv2d_backward_${pass} ${HK_FIXED_FIELDS_conv2d})
endforeach()
list(APPEND HK_FIXED_FIELDS_conv2d_backward_data padding_top)
kernel_family(conv2d_backward_data LIBRARY conv2d_backward USES conv2d)
kernel_family(conv2d_backward_weight LIBRARY conv2d_backward)
kernel_family(conv2d_backward_bias LIBRARY conv2d_backward)

# Sums of more than 32768 terms, as conv2d's; of a CPU those of the phases.
set(long WHERE output_depth>=32769)
set(short WHERE output_depth<=32768)
kernel(conv2d_backward_data long ALGORITHM packed SCHEDULE cpu_blocks KNOBS tile_x:4,stage:0 TYPES f32 f16 bf16 ${both}
    DEVICES cpu ${long} ${stride_1})

# CPU.
set(types TYPES f32 f16 bf16)
set(gradients TYPES f32 f16 bf16 ${both})
# Data: with strides of one a convolution, by conv2d's algorithms and schedules; the runtime splits a
# strided one into such ones. GFLOP/s of f32 on one Zen 4 core, in places of the row below: fixed widths 57,
# 84, 84 (43, 66, 72); 5x5 87 (55), 7x7 97 (60); grouped 3x3 as conv2d's.
# Rows made for a stride of 2, which take a problem whole. Against its phases one by one, batch 8: depthwise
# nhwc 1.5 to 2.2 times as fast (14x14, 672, 5x5: 42 GFLOP/s, in phases 19), nchw 4 to 6 times; 8, 16, 32 channels a
# group 2.1, 1.7, 1.4 times (55, 84, 74 GFLOP/s). With a stride of 1 grouped${size}_3x3 below is as fast.
set(whole SCHEDULE cpu_phases DEVICES cpu)
foreach(padding 1 2)
    math(EXPR k "2 * ${padding} + 1")
    set(where ${depthwise} kernel_w=${k} kernel_h=${k} dilation_x=1 dilation_y=1 ${stride_2}
        padding_left=${padding} padding_top=${padding})
    kernel(conv2d_backward_data depthwise${k}x${k}_s2 ALGORITHM flip_expand ${whole} KNOBS tile_y:2
        ${types} LAYOUTS nhwc WHERE ${where} groups%16=0)
    kernel(conv2d_backward_data depthwise${k}x${k}_s2_8 ALGORITHM flip_expand ${whole}
        KNOBS lanes:8,tile_y:2 TYPES f32 LAYOUTS nhwc WHERE ${where} groups%8=0)
    kernel(conv2d_backward_data depthwise${k}x${k}_s2 ALGORITHM rows ${whole} ${types} LAYOUTS nchw
        WHERE ${where})
endforeach()
foreach(row "8 vectors:8 16" "16 vectors:8 8" "32 vectors:4,tile_y:1 4")
    separate_arguments(row)
    list(POP_FRONT row size knobs groups)
    kernel(conv2d_backward_data grouped${size}_3x3_s2 ALGORITHM flip_expand ${whole} KNOBS ${knobs} ${types}
        LAYOUTS nhwc WHERE channels_per_group=${size} filters_per_group=${size} ${kernel_3x3} ${stride_2}
        padding_left=1 padding_top=1 groups%${groups}=0)
endforeach()
set(same_sizes "7 tile_y:1" "14 tile_x:14" "28 tile_y:1")
foreach(size IN LISTS same_sizes)
    separate_arguments(size)
    list(POP_FRONT size width knobs)
    kernel(conv2d_backward_data depthwise3x3_w${width} ${cpu_depthwise} KNOBS ${knobs} TYPES f32 LAYOUTS nhwc
        WHERE ${depthwise} ${kernel_3x3} ${same_w${width}} groups%16=0)
endforeach()
kernel(conv2d_backward_data depthwise3x3 ${cpu_depthwise} ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${kernel_3x3} ${stride_1} groups%16=0)
foreach(k 5 7)
    kernel(conv2d_backward_data depthwise${k}x${k} ${cpu_depthwise} KNOBS tile_y:2 ${types} LAYOUTS nhwc
        WHERE ${depthwise} kernel_w=${k} kernel_h=${k} dilation_x=1 dilation_y=1 ${stride_1} groups%16=0)
endforeach()
# The phases of a 3x3 filter with a stride of 2: 1.3 to 2 times as fast as the row below.
foreach(size "1 1 tile_y:1,stage:0" "1 2 tile_y:1" "2 1 tile_y:1" "2 2 tile_y:1")
    separate_arguments(size)
    list(POP_FRONT size w h knobs)
    kernel(conv2d_backward_data depthwise${h}x${w} ${cpu_depthwise} KNOBS ${knobs} TYPES f32 LAYOUTS nhwc
        WHERE ${depthwise} kernel_w=${w} kernel_h=${h} dilation_x=1 dilation_y=1 ${stride_1} groups%16=0)
endforeach()
# A tile copies the rows of its window: far apart, they would be most of the image for each tile. `any` is slower than
# with conv2d, so more is copied than there.
set(bounded_rows copied<=1048576 spread<=4096)
kernel(conv2d_backward_data depthwise ${cpu_depthwise} KNOBS tile_y:2 ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${stride_1} groups%16=0 ${bounded_rows})
kernel(conv2d_backward_data depthwise8 ${cpu_depthwise} KNOBS lanes:8,tile_y:2 ${types} LAYOUTS nhwc
    WHERE ${depthwise} ${stride_1} groups%8=0 ${bounded_rows})
set(cpu_rows ALGORITHM depthwise_rows SCHEDULE cpu DEVICES cpu ${types} LAYOUTS nchw)
kernel(conv2d_backward_data depthwise3x3 ${cpu_rows} KNOBS lanes:8,tile_y:7
    WHERE ${depthwise} ${kernel_3x3} ${stride_1})
foreach(k 5 7)
    kernel(conv2d_backward_data depthwise${k}x${k} ${cpu_rows} KNOBS lanes:8,tile_y:4
        WHERE ${depthwise} kernel_w=${k} kernel_h=${k} dilation_x=1 dilation_y=1 ${stride_1})
endforeach()
kernel(conv2d_backward_data depthwise ${cpu_rows} KNOBS lanes:8,tile_y:4
    WHERE ${depthwise} ${stride_1} ${bounded_rows})
set(grouped4 channels_per_group=4 filters_per_group=4 groups%4=0)
list(APPEND grouped8 groups%2=0)
foreach(size 4 8 16 32)
    kernel(conv2d_backward_data grouped${size}_3x3 ${cpu_grouped} ${types} LAYOUTS nhwc
        WHERE ${grouped${size}} ${kernel_3x3} ${stride_1})
    kernel(conv2d_backward_data grouped${size} ${cpu_grouped} ${types} LAYOUTS nhwc
        WHERE ${grouped${size}} ${stride_1})
endforeach()
# 1x1: blocks of channels that leave few lanes idle, as explorer run conv2d_backward_data LISTS --row ROW --knobs … has
# them (resnet50, mobilenetv2, resnext50). bench --family conv2d_backward_data --no-peers --row ROW, GFLOP/s: --list
# mobilenetv2 --filter 112x112_16-96 1x1_32 111, 1x1 23; --list resnet50 --filter 7x7_2048-512 1x1_small, one block
# packed at a time (`outer`), 97, 1x1 90. `outer` with more pixels and long sums loses them from the cache between
# blocks (0.8 times as fast at 28x28, batch 8, by knobs).
set(packed ALGORITHM packed SCHEDULE cpu DEVICES cpu)
set(pointwise ${packed} TYPES f32 LAYOUTS nhwc WHERE ${kernel_1x1} ${stride_1})
kernel(conv2d_backward_data 1x1_32 KNOBS block:16,tile_x:6,stage:0,chunk:32
    ${pointwise} channels_per_group<=32)
kernel(conv2d_backward_data 1x1_48_small KNOBS block:48,tile_x:7,stage:0,chunk:32
    ${pointwise} channels_per_group%48=0 out_w<=64)
kernel(conv2d_backward_data 1x1_48 KNOBS block:16,tile_x:6,stage:0,outer:2 ${pointwise} channels_per_group%48=0)
kernel(conv2d_backward_data 1x1_80 KNOBS block:80,tile_x:5,stage:0,chunk:32
    ${pointwise} channels_per_group%80=0 channels_per_group<=240)
kernel(conv2d_backward_data 1x1_small KNOBS block:64,tile_x:7,stage:0,outer:1 ${pointwise} out_w<=64)
kernel(conv2d_backward_data 1x1_shallow KNOBS block:16,tile_x:6,stage:0,chunk:32
    ${pointwise} filters_per_group<=128)
kernel(conv2d_backward_data 1x1 KNOBS block:64,tile_x:6,stage:0,chunk:32 ${pointwise})
kernel(conv2d_backward_data 1x1 ${packed} KNOBS stage:0 TYPES f32 LAYOUTS nchw WHERE ${kernel_1x1} ${stride_1})
kernel(conv2d_backward_data 1x1 ${packed} KNOBS block:32,tile_x:7,stage:2 TYPES f16 bf16 ${both}
    WHERE ${kernel_1x1} ${stride_1})
set(bounded_copy output_window<=1048576 spread<=4096)
# deep: 3x3 at 7x7 beside the peers 81 GFLOP/s, by the row below 66.
kernel(conv2d_backward_data deep ${packed} KNOBS block:64,outer:1 ${types} ${both}
    WHERE ${stride_1} ${bounded_copy} depth_per_pixel>=16)
# Blocks of 64 channels where they are full, else of one vector. Blocks of 64 for all have 0.77 of the speed: explorer run
# conv2d_backward_data conv_training --row staged --knobs block:64,stage:1,tile_x:7, geometric mean.
kernel(conv2d_backward_data staged_64 ${packed} KNOBS block:64,stage:1 ${types} LAYOUTS nhwc
    WHERE ${stride_1} ${bounded_copy} channels_per_group%64=0 channels_per_group>=128)
kernel(conv2d_backward_data staged_7 ${packed} TYPES f32 ${both} WHERE ${stride_1} ${bounded_copy} out_w%7=0)
kernel(conv2d_backward_data staged ${packed} KNOBS tile_x:8 ${types} ${both} WHERE ${stride_1} ${bounded_copy})
kernel(conv2d_backward_data any ALGORITHM flip_expand SCHEDULE cpu ${gradients} DEVICES cpu)
# Weight, CPU. Depthwise: with the width known the input is read as it is (3x3); others stage it.
set(types TYPES f32 f16 bf16)
set(any_dilation_1 dilation_x=1 dilation_y=1)
set(kernel_5x5 kernel_w=5 kernel_h=5 ${any_dilation_1})
set(kernel_7x7 kernel_w=7 kernel_h=7 ${any_dilation_1})
set(tiles ALGORITHM tiles SCHEDULE cpu DEVICES cpu)
set(tiles_f32 ${tiles} TYPES f32 LAYOUTS nhwc)
# `small`: one image, all pixels one tile: 1.1 to 1.4 times the rows after them.
foreach(row "1 7 same step:7,block_g:160 16" "1 14 same step:14,block_g:192 16" "2 14 half step:7,g:32 32"
            "2 28 half step:7,g:32 32")
    separate_arguments(row)
    list(POP_FRONT row stride width size knobs groups)
    kernel(conv2d_backward_weight depthwise3x3_s${stride}_w${width}_small ${tiles_f32}
        KNOBS direct:1,stage:0,whole:1,${knobs}
        WHERE ${depthwise} ${kernel_3x3} ${${size}_w${width}} groups%${groups}=0 out_pixels<=256 batch<=1)
endforeach()
foreach(width w7 w14 w28 w56 w112)
    set(knobs direct:1,stage:0)
    if(width STREQUAL w14)
        set(knobs direct:1,stage:0,step:14)
    endif()
    kernel(conv2d_backward_weight depthwise3x3_s1_${width} ${tiles_f32} KNOBS ${knobs}
        WHERE ${depthwise} ${kernel_3x3} ${same_${width}} groups%16=0)
endforeach()
foreach(width w14 w28 w56 w112)
    set(knobs stage:0)
    if(width MATCHES "w56|w112")
        set(knobs direct:1,stage:0,step:4)
    endif()
    kernel(conv2d_backward_weight depthwise3x3_s2_${width} ${tiles_f32} KNOBS ${knobs}
        WHERE ${depthwise} ${kernel_3x3} ${half_${width}} groups%16=0)
endforeach()
# nchw: columns as vectors where rows are long, else squares of channels and columns are transposed.
# With the width known both are 1.2 to 1.6 times as fast.
set(tiles_nchw ALGORITHM tiles TYPES f32 LAYOUTS nchw DEVICES cpu)
set(edge_3x3 1)
set(edge_5x5 2)
set(edge_7x7 3)
foreach(row "3x3 1 28 columns" "3x3 1 56 columns" "3x3 1 112 columns" "3x3 2 112 columns" "3x3 1 7" "3x3 1 14"
            "3x3 2 14" "3x3 2 28" "5x5 1 7" "5x5 1 14" "5x5 1 28" "5x5 2 14" "7x7 1 7" "7x7 1 14" "7x7 1 28")
    separate_arguments(row)
    list(POP_FRONT row kernel stride width)
    math(EXPR out "${width} / ${stride}")
    list(PREPEND row cpu)
    string(JOIN "_" schedule ${row})
    kernel(conv2d_backward_weight depthwise${kernel}_s${stride}_w${width} ${tiles_nchw} SCHEDULE ${schedule}
        WHERE ${depthwise} ${kernel_${kernel}} ${stride_${stride}} width=${width} out_w=${out}
        padding_left=${edge_${kernel}})
endforeach()
foreach(stride 1 2)
    kernel(conv2d_backward_weight depthwise3x3_s${stride}_wide ALGORITHM tiles SCHEDULE cpu_columns ${types}
        LAYOUTS nchw DEVICES cpu WHERE ${depthwise} ${kernel_3x3} ${stride_${stride}} out_w>=28)
endforeach()
foreach(kernel 3x3 5x5 7x7)
    foreach(stride 1 2)
        kernel(conv2d_backward_weight depthwise${kernel}_s${stride} ${tiles} ${types} ${both}
            WHERE ${depthwise} ${kernel_${kernel}} ${stride_${stride}})
    endforeach()
endforeach()
kernel(conv2d_backward_weight depthwise ${tiles} KNOBS step:4 ${types} ${both} WHERE ${depthwise})

# Sums of 16 channels and filters, which divide the problem's; the gradient, and the input of 1x1, are read where
# they are. In rows `small` all pixels are one tile, whose sums are written at once. Beside the peers, against `any`
# (bench --family conv2d_backward_weight --list resnet50): 1x1 at 7x7 1.5 times as fast (105 GFLOP/s), at 14x14 1.15,
# at 56x56 1.1 to 1.2 times; 3x3 at 7x7 1.6, at 14x14 1.2 times; 16 and 32 channels a group (--list resnext50) 1.05 to
# 1.25 times their rows below.
set(where_1x1 WHERE ${kernel_1x1} ${stride_1})
set(direct direct:1,inside:1,stage:0,pixels:128,block_c:256,block_k:256)
kernel(conv2d_backward_weight 1x1_small ${tiles_f32}
    KNOBS direct:1,inside:1,stage:0,c:16,k:16,whole:1,block_c:1024,block_k:64
    ${where_1x1} channels_per_group%16=0 filters_per_group%16=0 out_pixels<=256 batch<=1)
kernel(conv2d_backward_weight 1x1 ${tiles_f32} KNOBS ${direct},c:16,k:16
    ${where_1x1} channels_per_group%16=0 filters_per_group%16=0)
kernel(conv2d_backward_weight 1x1_filters8 ${tiles_f32} KNOBS ${direct},c:16,k:8
    ${where_1x1} channels_per_group%16=0 filters_per_group%8=0)
kernel(conv2d_backward_weight 1x1_channels8 ${tiles_f32} KNOBS ${direct},filters:1,c:8,k:16
    ${where_1x1} channels_per_group%8=0 filters_per_group%16=0)
kernel(conv2d_backward_weight direct_small ${tiles_f32}
    KNOBS direct:1,stage:1,c:16,k:16,whole:1,block_c:128,block_k:128,block_g:4
    WHERE channels_per_group%16=0 filters_per_group%16=0 out_pixels<=256 batch<=1)

# Few channels a group: vectors across groups (4), or sizes known to the compiler (8, 16, 32).
kernel(conv2d_backward_weight grouped4_3x3 ${tiles} ${types} ${both}
    WHERE channels_per_group=4 filters_per_group=4 ${kernel_3x3})
# Copies of an input as large as this one cost as much as the sums: 1.3 times the row below.
kernel(conv2d_backward_weight grouped8_3x3_s2_w56 ${tiles_f32}
    KNOBS direct:1,stage:0,c:8,k:8,s:3,block_c:8,block_k:8,block_g:32,pixels:128
    WHERE ${grouped8} ${kernel_3x3} ${half_w56})
foreach(size 8 16 32)
    kernel(conv2d_backward_weight grouped${size}_3x3 ${tiles} ${types} ${both}
        WHERE ${grouped${size}} ${kernel_3x3})
endforeach()
kernel(conv2d_backward_weight few ${tiles} KNOBS c:1,g:16,k:2,s:1,step:4 ${types} ${both}
    WHERE channels_per_group<=8 filters_per_group<=8 groups>=16)
# rgb: the first layer; vectors are of filters.
kernel(conv2d_backward_weight rgb7x7 ${tiles} KNOBS filters:1,c:1,k:64,s:7,block_k:64,stage:1 ${types} LAYOUTS nhwc
    WHERE channels_per_group=3 ${kernel_7x7})
kernel(conv2d_backward_weight rgb3x3 ${tiles} KNOBS filters:1,c:3,k:32,s:3,block_k:32,block_c:3,pixels:512,stage:1
    ${types} LAYOUTS nhwc WHERE channels_per_group=3 ${kernel_3x3})
kernel(conv2d_backward_weight few_channels ${tiles} KNOBS filters:1,c:1,k:64,s:1,block_k:64 ${types} LAYOUTS nhwc
    WHERE channels_per_group<=8 filters_per_group>=16)
kernel(conv2d_backward_weight direct ${tiles_f32}
    KNOBS direct:1,stage:1,c:16,k:16,pixels:256,block_c:128,block_k:64
    WHERE channels_per_group%16=0 filters_per_group%16=0)
# Blocks of 32 channels would be half empty.
kernel(conv2d_backward_weight narrow ${tiles} KNOBS filters:1,c:8,k:32,s:1 TYPES f32 LAYOUTS nhwc
    WHERE channels_per_group<=24 filters_per_group>=32)
kernel(conv2d_backward_weight any ${tiles} ${types} ${both})
kernel(conv2d_backward_bias any ALGORITHM partial_sums SCHEDULE cpu ${gradients} DEVICES cpu)

# GPU: the input's gradient by the schedules of conv2d, with c and k in each other's place (tile_k is of
# c), so the ladder is conv2d's. `any` runs the phases of a stride. The second formulation has the rows
# that the first has for the case that it is known from; rows of the first come before them.
set(gpu SCHEDULE gpu ${both} DEVICES cuda opencl)
set(flip_expand ALGORITHM flip_expand_sliced ${gpu} ${short})
set(kernel_1x3 kernel_w=3 kernel_h=1 dilation_x=1 dilation_y=1)
set(kernel_3x1 kernel_w=1 kernel_h=3 dilation_x=1 dilation_y=1)
set(line BUDGET shared:9088,registers:64)
set(unstaged SCHEDULE gpu_unstaged TYPES f32 f16 bf16 ${both} DEVICES cuda opencl)
foreach(stride "s1;${stride_1}" any)
    list(POP_FRONT stride row)
    kernel(conv2d_backward_data depthwise_${row} ALGORITHM flip_expand ${unstaged} BUDGET shared:0,registers:40
        ${short} ${depthwise} ${stride})
endforeach()
kernel(conv2d_backward_data 1x1_large ${flip_expand} TYPES f32 ${large_1x1}
    WHERE ${kernel_1x1} ${stride_1} channels_per_group>=128 out_w>=512)
kernel(conv2d_backward_data 1x1 ${flip_expand} ${types} BUDGET shared:4224,registers:72
    WHERE ${kernel_1x1} ${stride_1})
kernel(conv2d_backward_data few ${flip_expand} TYPES f32 ${few} BUDGET shared:8832,registers:80
    WHERE channels_per_group<=16)
kernel(conv2d_backward_data 3x3_large ${flip_expand} TYPES f32 ${large_3x3}
    WHERE ${kernel_3x3} ${stride_1} channels_per_group>=128 out_w>=28 out_h>=28)
kernel(conv2d_backward_data 3x3 ${flip_expand} ${types} BUDGET shared:22784,registers:64
    WHERE ${kernel_3x3} ${stride_1})
kernel(conv2d_backward_data 3x3_small ${flip_expand} TYPES f32 KNOBS tile_c:4 BUDGET shared:11392,registers:64
    WHERE ${kernel_3x3} ${stride_1})
kernel(conv2d_backward_data 1x3 ${flip_expand} TYPES f32 bf16 ${line} WHERE ${kernel_1x3} ${stride_1})
kernel(conv2d_backward_data 3x1 ${flip_expand} TYPES f32 bf16 ${line} WHERE ${kernel_3x1} ${stride_1})
kernel(conv2d_backward_data any ${flip_expand} ${types} BUDGET shared:4224,registers:80)
kernel(conv2d_backward_data unstaged ALGORITHM flip_expand_blocks ${unstaged} BUDGET shared:0,registers:56)
kernel(conv2d_backward_data 1x3_expand_flip ALGORITHM expand_flip_sliced SCHEDULE gpu TYPES f32 bf16 LAYOUTS nhwc
    DEVICES cuda opencl ${line} ${short} ${kernel_1x3} ${stride_1})
kernel(conv2d_backward_data any_expand_flip ALGORITHM expand_flip SCHEDULE cpu TYPES f32 bf16 LAYOUTS nhwc
    DEVICES cpu)

# The filter's gradient: tiles of c (tile_x) and k, and of g (tile_y) where nothing is staged. Parts of the
# sum are kept in global memory: at most 16 MB, for rows of 64, 16 and 8 parts end at 2^16, 2^18 and 2^19
# elements of the filter, of which more are blocks enough without.
set(sliced ALGORITHM sliced TYPES f32 f16 bf16 ${both} DEVICES cuda opencl)
set(parts_64 WHERE weight_size<=65536)
set(parts_16 WHERE weight_size<=262144)
set(parts_8 WHERE weight_size<=524288)
kernel(conv2d_backward_weight depthwise ${sliced} SCHEDULE gpu_unstaged BUDGET shared:0,registers:40
    KNOBS tile_k:1,threads_k:1,tile_x:1,threads_x:1,tile_y:64,threads_y:64,parts:64 ${parts_64} ${depthwise})
kernel(conv2d_backward_weight few ${sliced} SCHEDULE gpu_unstaged BUDGET shared:0,registers:64
    KNOBS tile_k:4,threads_k:1,tile_x:4,threads_x:4,tile_y:16,threads_y:16,parts:16
    ${parts_16} channels_per_group<=8 filters_per_group<=8)
kernel(conv2d_backward_weight few_channels ${sliced} SCHEDULE gpu_unstaged BUDGET shared:0,registers:56
    KNOBS tile_k:64,threads_k:16,tile_x:4,threads_x:4,parts:16 ${parts_16} channels_per_group<=8)
kernel(conv2d_backward_weight grouped ${sliced} SCHEDULE gpu BUDGET shared:2304,registers:72
    KNOBS tile_k:32,threads_k:8,tile_x:32,threads_x:8,parts:8
    ${parts_8} groups>=8 channels_per_group<=32 filters_per_group<=32)
kernel(conv2d_backward_weight parts_64 ${sliced} SCHEDULE gpu KNOBS parts:64 BUDGET shared:4352,registers:72 ${parts_64})
kernel(conv2d_backward_weight parts_8 ${sliced} SCHEDULE gpu KNOBS parts:8 BUDGET shared:4352,registers:72 ${parts_8})
kernel(conv2d_backward_weight staged ${sliced} SCHEDULE gpu BUDGET shared:4352,registers:72)
kernel(conv2d_backward_weight unstaged_parts ${sliced} SCHEDULE gpu_unstaged KNOBS parts:16
    BUDGET shared:0,registers:40 ${parts_16})
kernel(conv2d_backward_weight unstaged ${sliced} SCHEDULE gpu_unstaged BUDGET shared:0,registers:40)
kernel(conv2d_backward_bias unstaged ALGORITHM partial_sums ${unstaged} BUDGET shared:0,registers:40)
