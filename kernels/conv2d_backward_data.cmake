# The gradient of a convolution's input.
kernel_family(conv2d_backward_data LIBRARY conv2d_backward USES conv2d FIELDS convolution/fields.def)
include(kernels/terms/convolution.cmake)

# Sums of more than 32768 terms, as conv2d's; of a CPU those of the phases.
term(short output_depth<=32768)
# Sums of tensor cores are cut off at each of 9 summands of a step: 8 terms and the sum before. 1820 steps are within
# the error that hk/conv2d.h promises.
term(few_steps output_depth<=14336)
term(few_tf32_steps output_depth<=13056 tf32=1)  # steps of 4 terms
# A tile copies the rows of its window: far apart, they would be most of the image for each tile. `any` is slower than
# with conv2d, so more is copied than there.
term(bounded_rows copied<=1048576 spread<=4096)
term(bounded_copy output_window<=1048576 spread<=4096)
# Whole planes of 16 groups are transposed, a vector of pixels and four columns at a time, and kept, as conv2d's are.
term(planes_or_line line=1 groups>=16 out_w>=4 width>=4 pixels<=262144 bounded_rows)
term(planes planes_or_line height>=4)
# groups_in_place is the number of groups where the gradient is added to, else 0: the last vector of groups begins before
# the end of the one before it, and would be added twice.
term(whole_vectors groups_in_place%16=0)
term(grouped4 channels_per_group=4 filters_per_group=4 groups%4=0)

# Height x width.
term(1x2 kernel_w=2 kernel_h=1 dilation_x=1 dilation_y=1)
term(1x3 kernel_w=3 kernel_h=1 dilation_x=1 dilation_y=1)
term(2x1 kernel_w=1 kernel_h=2 dilation_x=1 dilation_y=1)
term(2x2 kernel_w=2 kernel_h=2 dilation_x=1 dilation_y=1)
term(3x1 kernel_w=1 kernel_h=3 dilation_x=1 dilation_y=1)

# CPU: with strides of one a convolution, by conv2d's algorithms and schedules; the runtime splits a strided one into
# such ones. Of images in nchw that no row of nchw takes there are copies in nhwc; those of its rows that take strides are
# made for them. With strided 1x1 filters, of nchw, rows compute the pixels that those meet: 56x56_256-512_1x1_s2 1.1 times as
# fast as by copies in nhwc (bench --family conv2d_backward_data --layout nchw --list resnet50 --filter 1x1_s2, and with
# --row 1x1_rows). What a special row gains over one below it: bench --family conv2d_backward_data --list depthwise --row ROW.
#        row                 algorithm             schedule          types         layouts    knobs                               where
row(cpu  long                packed                broadcast_blocks  f32,f16,bf16  nhwc       tile_x:4,stage:0                    output_depth>=32769 stride_1)
# Rows made for a stride of 2, which take a problem whole, where others run its phases one by one. With a stride of 1 the
# rows grouped…_3x3 below are as fast. depthwise3x3_s2_16 of nchw: columns of a phase fill vectors of 8, where AVX2 takes four
# else (bench --family conv2d_backward_data --layout nchw --list mobilenetv2 --filter 112x112_96-96, with --row depthwise3x3_s2
# 1.25 times as long on Zen 3).
row(cpu  depthwise3x3_s2     flip_expand           unrolled_phases   f32,f16,bf16  nhwc       tile_y:2                            depthwise 3x3 stride_2 padding_left=1 padding_top=1 groups%16=0)
row(cpu  depthwise3x3_s2_8   flip_expand           unrolled_phases   f32           nhwc       lanes:8,tile_y:2                    depthwise 3x3 stride_2 padding_left=1 padding_top=1 groups%8=0)
row(cpu  depthwise3x3_s2_16  rows                  unrolled_phases   f32           nchw       lanes:8,tile_y:4                     depthwise 3x3 stride_2 padding_left=1 padding_top=1 width%16=0 avx512=0)
row(cpu  depthwise3x3_s2     rows                  unrolled_phases   f32,f16,bf16  nchw       tile_y:4                             depthwise 3x3 stride_2 padding_left=1 padding_top=1 data_copied_nhwc=0)
row(cpu  depthwise5x5_s2     flip_expand           unrolled_phases   f32,f16,bf16  nhwc       tile_y:2                            depthwise 5x5 stride_2 padding_left=2 padding_top=2 groups%16=0)
row(cpu  depthwise5x5_s2_8   flip_expand           unrolled_phases   f32           nhwc       lanes:8,tile_y:2                    depthwise 5x5 stride_2 padding_left=2 padding_top=2 groups%8=0)
row(cpu  depthwise5x5_s2     rows                  unrolled_phases   f32,f16,bf16  nchw       tile_y:2                            depthwise 5x5 stride_2 padding_left=2 padding_top=2 data_copied_nhwc=0)
row(cpu  grouped8_3x3_s2     flip_expand           unrolled_phases   f32,f16,bf16  nhwc       vectors:8                           channels_per_group=8 filters_per_group=8 3x3 stride_2 padding_left=1 padding_top=1 groups%16=0)
row(cpu  grouped16_3x3_s2    flip_expand           unrolled_phases   f32,f16,bf16  nhwc       vectors:8                           channels_per_group=16 filters_per_group=16 3x3 stride_2 padding_left=1 padding_top=1 groups%8=0)
row(cpu  grouped32_3x3_s2    flip_expand           unrolled_phases   f32,f16,bf16  nhwc       vectors:4,tile_y:1                  channels_per_group=32 filters_per_group=32 3x3 stride_2 padding_left=1 padding_top=1 groups%4=0)
row(cpu  depthwise3x3_large  depthwise             sliding           f32           nhwc       stage:0,tile_x:4,tile_y:2,whole:1   depthwise 3x3 stride_1 groups>=32 whole_vectors width>=4 height>=2 outputs>=393216)
row(cpu  depthwise3x3_large  depthwise             sliding           f16,bf16      nhwc       stage:0,tile_x:4,tile_y:2,whole:1   depthwise 3x3 stride_1 groups>=32 whole_vectors width>=4 height>=2 outputs>=786432)
row(cpu  depthwise_line      depthwise             sliding           f32           nhwc       stage:0,tile_x:6,vectors:4,whole:1  depthwise kernel_w<=7 stride_1 groups%64=0 width>=6 height<=1 inputs>=32768)
row(cpu  depthwise_long      depthwise             sliding           f32           nhwc       tile_x:4,tile_y:1                   depthwise stride_1 groups>=16 whole_vectors height<=1 bounded_rows)
row(cpu  depthwise3x3_w7     depthwise             sliding           f32           nhwc       tile_y:1                            depthwise 3x3 same_7 groups>=16 whole_vectors)
row(cpu  depthwise3x3_w14    depthwise             sliding           f32           nhwc       tile_x:14                           depthwise 3x3 same_14 groups>=16 whole_vectors)
row(cpu  depthwise3x3_w28    depthwise             sliding           f32           nhwc       tile_y:1                            depthwise 3x3 same_28 groups>=16 whole_vectors)
row(cpu  depthwise3x3        depthwise             sliding           f32,f16,bf16  nhwc       -                                   depthwise 3x3 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise5x5_32     depthwise             sliding           f32           nhwc       vectors:2,tile_y:1,stage:0          depthwise 5x5 stride_1 groups%32=0)
row(cpu  depthwise5x5        depthwise             sliding           f32           nhwc       tile_y:1,stage:0                    depthwise 5x5 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise5x5        depthwise             sliding           f16,bf16      nhwc       tile_y:2                            depthwise 5x5 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise7x7_32     depthwise             sliding           f32           nhwc       vectors:2,tile_y:1,stage:0          depthwise 7x7 stride_1 groups%32=0)
row(cpu  depthwise7x7        depthwise             sliding           f32           nhwc       tile_y:1,stage:0                    depthwise 7x7 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise7x7        depthwise             sliding           f16,bf16      nhwc       tile_y:2                            depthwise 7x7 stride_1 groups>=16 whole_vectors)
# The phases of a 3x3 filter with a stride of 2.
row(cpu  depthwise1x1        depthwise             sliding           f32           nhwc       tile_y:1,stage:0                    depthwise kernel_w=1 kernel_h=1 dilation_x=1 dilation_y=1 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise2x1        depthwise             sliding           f32           nhwc       tile_y:1                            depthwise kernel_w=1 kernel_h=2 dilation_x=1 dilation_y=1 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise1x2        depthwise             sliding           f32           nhwc       tile_y:1                            depthwise kernel_w=2 kernel_h=1 dilation_x=1 dilation_y=1 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise2x2        depthwise             sliding           f32           nhwc       tile_y:1                            depthwise kernel_w=2 kernel_h=2 dilation_x=1 dilation_y=1 stride_1 groups>=16 whole_vectors)
row(cpu  depthwise           depthwise             sliding           f32,f16,bf16  nhwc       tile_y:2                            depthwise stride_1 groups>=16 whole_vectors bounded_rows)
row(cpu  depthwise8          depthwise             sliding           f32,f16,bf16  nhwc       lanes:8,tile_y:2                    depthwise stride_1 groups%8=0 bounded_rows)
row(cpu  depthwise_8         depthwise             sliding           f32           nhwc       lanes:8,tile_x:4,tile_y:1           depthwise stride_1 groups>=8 groups_in_place%8=0 width>=4 bounded_rows)
# depthwise_line: by --row depthwise input=8x20x20x96,weight=96x1x1x1,groups=96 takes 2.7 times as long (bench --family
# conv2d_backward_data --layout nchw, on Zen 3).
row(cpu  depthwise_line      depthwise_planes      planes            f32           nchw       tile_x:10,tile_y:1,taps:4           depthwise stride_1 dilation_x=1 planes_or_line height<=1 width>=16)
row(cpu  depthwise3x3_small  depthwise_planes      planes            f32           nchw       -                                   depthwise 3x3 stride_1 planes width<=32)
row(cpu  depthwise3x3        depthwise_rows        sliding           f32,f16,bf16  nchw       lanes:8,tile_y:7                    depthwise 3x3 stride_1 bounded_rows)
row(cpu  depthwise5x5        depthwise_planes      planes            f32           nchw       -                                   depthwise 5x5 stride_1 planes)
row(cpu  depthwise7x7        depthwise_planes      planes            f32           nchw       -                                   depthwise 7x7 stride_1 planes)
row(cpu  depthwise_planes    depthwise_planes      planes            f32,f16,bf16  nchw       -                                   depthwise stride_1 planes)
row(cpu  depthwise           depthwise_transposed  sliding           f32,f16,bf16  nchw       -                                   depthwise stride_1 groups>=9 out_w>=4 bounded_rows)
row(cpu  depthwise_any       depthwise_rows        sliding           f32,f16,bf16  nchw       lanes:8,tile_y:4                    depthwise stride_1 bounded_rows)
# Of nchw, vectors of columns and the filter's taps where they are, of columns that fill vectors. By copies in nhwc, which
# take the filter too, on Zen 4: 16x16_512-512_3x3_g32 1.36 times as long, with a stride of 2 56x56_256-256_3x3_s2_g32 1.8
# and 32x32_512-512_3x3_s2_g32 1.43 times, 56x56_128-128_3x3_s2 1.07 beside the peers (bench --family conv2d_backward_data --layout
# nchw --list input=1x16x16x512,weight=512x3x3x16,padding=1,groups=32 --row grouped16_3x3 and such). Without AVX-512 those of 4
# channels alone are faster so.
row(cpu  columns_3x3_s2      rows                  phase_columns     f32           nchw       tile_c:2/4,tile_y:2/1               3x3 stride_2 padding_left=1 padding_top=1 channels>=32 channels_per_group%4=0 phase_filled_16>=80 avx512>=1)
row(cpu  columns_3x3_s2_8    rows                  phase_columns     f32           nchw       lanes:8,tile_c:2/4,tile_y:2         3x3 stride_2 padding_left=1 padding_top=1 channels>=32 channels_per_group%4=0 channels_per_group<=32 phase_filled_8>=80 avx512>=1)
row(cpu  columns_3x3         rows                  phase_columns     f32           nchw       tile_c:8,tile_y:2                   3x3 stride_1 channels>=32 channels_per_group%8=0 channels_per_group<=23 phase_filled_16>=80 avx512>=1)
row(cpu  columns_3x3_few     rows                  phase_columns     f32           nchw       tile_c:4,tile_y:4                   3x3 stride_1 channels>=32 channels_per_group=4 phase_filled_16>=75)
row(cpu  grouped4_3x3        packed                grouped           f32,f16,bf16  nhwc       -                                   grouped4 3x3 stride_1)
row(cpu  grouped4            packed                grouped           f32,f16,bf16  nhwc       -                                   grouped4 stride_1)
row(cpu  grouped8_3x3        packed                grouped           f32,f16,bf16  nhwc       -                                   grouped8 3x3 stride_1)
row(cpu  grouped8            packed                grouped           f32,f16,bf16  nhwc       -                                   grouped8 stride_1)
# Winograd's convolution, filters transformed in the call:
# 56x56_64-64_3x3 is 2.6 times as fast as staged_7 (explorer run conv2d_backward_data 56x56_64-64_3x3 --row staged_7),
# 28x28_128-128_3x3 2 times, 14x14_256-256_3x3 1.2. 14x14_1024-1024_3x3_g32 takes 0.76 of the time of grouped32_3x3 (bench
# --family conv2d_backward_data --list input=1x14x14x1024,weight=1024x3x3x32,padding=1,groups=32 --row grouped32_3x3).
# winograd_deep: filters are transformed a block at a time, just before all tiles use it: 14x14_256-256_3x3 1.3 times as
# fast as staged_32, 28x28_256-256_3x3 1.2 times as fast as winograd (bench --family conv2d_backward_data --row ROW; Xeon,
# family 6, model 167).
row(cpu  winograd_deep       winograd              winograd          f32           nhwc       fused:1                             3x3 stride_1 direct=0 channels_per_group>=24 filters_per_group>=16 winograd_tiles>=4 winograd_outputs>=8 depth_per_pixel>=2 depth_per_pixel<=40)
row(cpu  winograd            winograd              winograd          f32           nhwc       -                                   3x3 stride_1 direct=0 channels_per_group>=24 filters_per_group>=16 winograd_tiles>=4 winograd_outputs>=8 depth_per_pixel<=8)
row(cpu  winograd_few        winograd              winograd          f32           nhwc       -                                   3x3 stride_1 direct=0 channels_per_group>=16 filters_per_group>=16 winograd_tiles>=13 winograd_outputs>=14 depth_per_pixel<=8)
row(cpu  grouped16_3x3       packed                grouped           f32,f16,bf16  nhwc       -                                   grouped16 3x3 stride_1)
row(cpu  grouped16           packed                grouped           f32,f16,bf16  nhwc       -                                   grouped16 stride_1)
row(cpu  grouped32_3x3       packed                grouped           f32,f16,bf16  nhwc       -                                   grouped32 3x3 stride_1)
row(cpu  grouped32           packed                grouped           f32,f16,bf16  nhwc       -                                   grouped32 stride_1)
# 1x1: large tiles, as conv2d's, of blocks of channels that leave few lanes idle. The filter is packed in the call: of few
# pixels or of many elements one block at a time (`outer`), which all pixels then use while the next one is fetched
# (compiler/next_pass.h): bench --family conv2d_backward_data --list resnet50 --filter 7x7_ 100 GFLOP/s of Zen 4's 118.
# Pixels that are more than a cache holds would be read again for each block: explorer run conv2d_backward_data
# input=16x28x28x512,weight=256x1x1x512 --row 1x1_64 --knobs block:32,tile_x:7,stage:0,chunk:512,outer:1 0.73 of the speed.
# explorer run conv2d_backward_data 56x56_256-64_1x1 --row 1x1_64 --knobs block:16,tile_x:6,stage:0,chunk:32: 1x1_64 is 1.38
# times as fast (Xeon, family 6, model 167). 1x1_to_24: halves of vectors; bench --family conv2d_backward_data --list
# mobilenetv2 --filter 56x56_24 --row 1x1 takes 1.3 times as long.
# Without AVX-512 blocks are of 16 channels, one in a pass, where pixels are few, 49 in tiles of 5, or sums short: they stay in
# the first cache, and the next one is fetched meanwhile. bench --family conv2d_backward_data --list resnet50 --filter 7x7_ --row
# 1x1_passes takes 1.15 times as long on Zen 3 where nothing runs on the core's other thread, else as long. 1x1_24: of three
# vectors, which two blocks of 16 would leave part empty (explorer run conv2d_backward_data 56x56_24-144_1x1 --row 1x1 takes 1.5
# times as long).
# few_channels: dot products, as conv2d's few_filters.
row(cpu  few_channels        dot                   dot               f32           nhwc       tile_k:1,tile_x:8,rows:8            stride_1 channels_per_group<=4 filters_per_group%16=0 output_depth>=96 bounded_copy)
row(cpu  1x1_8               packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:10,stage:0,chunk:32  1x1 stride_1 channels_per_group<=8 avx512=0)
row(cpu  1x1_16              packed                broadcast         f32           nhwc       block:16,tile_x:6,stage:0,chunk:32          1x1 stride_1 channels_per_group<=16)
row(cpu  1x1_rows_deep       packed                broadcast         f32           nhwc       block:32,tile_y:2/1,stage:0,outer:1         1x1 stride_1 out_w<=32 out_h>=2 depth_per_pixel>=2)
row(cpu  1x1_rows            packed                broadcast         f32           nhwc       block:32/16,tile_y:2/1,stage:0,outer:2/4    1x1 stride_1 out_w<=32 out_h>=2)
row(cpu  1x1_24              packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4,stage:0,outer:1   1x1 stride_1 channels_spared_24>=8 avx512=0)
row(cpu  1x1_few             packed                broadcast         f32           nhwc       block:16,tile_x:5,stage:0,outer:1           1x1 stride_1 out_w<=64 avx512=0)
row(cpu  1x1_short           packed                broadcast         f32           nhwc       block:16,tile_x:6,stage:0,outer:1           1x1 stride_1 filters_per_group<=64 avx512=0)
row(cpu  1x1_passes          packed                broadcast         f32           nhwc       block:64,tile_x:6,stage:0,chunk:512,outer:1 1x1 stride_1 out_w<=399 avx512=0)
row(cpu  1x1_small           packed                broadcast         f32           nhwc       block:32,tile_x:10/7,stage:0,outer:1        1x1 stride_1 out_w<=64 avx512>=1)
row(cpu  1x1_64_passes       packed                broadcast         f32           nhwc       block:64/32,tile_x:6/7,stage:0,chunk:512,outer:1 1x1 stride_1 channels_per_group%64=0 out_w<=4096 avx512>=1)
row(cpu  1x1_64_large        packed                broadcast         f32           nhwc       block:64,tile_x:6,stage:0,outer:1           1x1 stride_1 channels_per_group%64=0 weight_size>=524288)
row(cpu  1x1_64              packed                broadcast         f32           nhwc       block:64/16,tile_x:6/7,stage:0,chunk:8      1x1 stride_1 channels_per_group%64=0 avx512>=1)
row(cpu  1x1_to_24           packed                broadcast         f32           nhwc       lanes:16/8,block:32/24,tile_x:12/7,stage:0,chunk:8 1x1 stride_1 channels_per_group=24 avx512>=1)
row(cpu  1x1_48              packed                broadcast         f32           nhwc       block:48/16,tile_x:8/7,stage:0,chunk:8      1x1 stride_1 channels_per_group%48=0 avx512>=1)
row(cpu  1x1_80              packed                broadcast         f32           nhwc       block:80/16,tile_x:5/7,stage:0,chunk:8      1x1 stride_1 channels_per_group%80=0 avx512>=1)
row(cpu  1x1                 packed                broadcast         f32           nhwc       block:32/16,tile_x:12/7,stage:0,chunk:8     1x1 stride_1)
# Of nchw from few pixels on where they are, as copies in nhwc take time, too (bench --family conv2d_backward_data --layout
# nchw --list mobilenetv2 --filter 14x14, and with --row 1x1_64_passes). Long sums need more pixels: with AVX2 fewer are slower
# (explorer run conv2d_backward_data 14x14_256-1024_1x1 --layout nchw --row 1x1_columns --cpu avx2). _copied: as conv2d's row;
# all filters are packed in each call, for which 7x7 pixels are few: 1x1_small is 1.3 times as fast (bench --family
# conv2d_backward_data --layout nchw --list resnet50 --filter 7x7).
row(cpu  1x1_columns_copied  packed_columns        columns           f32           nchw       copies:1,chunk:8,of_task:1024       1x1 stride_1 channels_per_group>=24 out_w>=96 avx512=0)
row(cpu  1x1_columns_long    packed_columns        columns           f32           nchw       chunk:8                             1x1 stride_1 filters_per_group>=384 out_w>=256)
row(cpu  1x1_columns         packed_columns        columns           f32           nchw       inner:1,chunk:8                     1x1 stride_1 filters_per_group<=383 out_w>=64)
row(cpu  1x1                 packed                broadcast         f16,bf16      nhwc       block:32,tile_x:7,stage:2           1x1 stride_1)
# columns_few: as conv2d's; of copies, bench --family conv2d_backward_data --layout nchw --list
# input=1x64x64x8,weight=32x5x5x8,padding=2 --row staged_8 takes 1.1 times as long on Zen 3.
row(cpu  columns_few         packed                columns           f32           nchw       vectors:2,filters:4,rows:7,stage:2  stride_1 channels_per_group>=4 channels_per_group<=15 filters_per_group>=8 width>=14 groups=1 bounded_copy avx512=0)
# deep: 3x3 at 7x7 beside the peers 81 GFLOP/s, by the row below 66. Blocks of 64 channels where they are full, else of
# one vector. Blocks of 64 for all have 0.77 of the speed: explorer run conv2d_backward_data conv_training --row staged
# --knobs block:64,stage:1,tile_x:7, geometric mean. Pairs of bf16 have 0.3 to 0.4 of the speed by blocks of 64: explorer
# run conv2d_backward_data 28x28_128-128_3x3 (7x7_512-512_3x3) --type bf16 --knobs block:64,stage:1 (block:64,outer:1).
# staged_48, staged_32: as conv2d's, 1.1 to 1.3 times as fast as the rows below, with full blocks or without (bench --family
# conv2d_backward_data --list input=1x17x17x176,weight=160x1x7x176,padding=0x3 --row staged; Xeon, family 6, model 167).
# deep_columns: filters that no second cache holds are copied and packed for as long as the sums take half of: by copies
# 7x7_512-512_3x3 takes 1.3 times as long on Zen 4, 14x14_512-512_3x3_s2 1.2 times, 7x7_256-256_3x3 0.97 times (bench --family
# conv2d_backward_data --layout nchw --list resnet50 --filter 7x7_512-512_3x3 --row deep).
row(cpu  deep_columns        rows                  phase_columns     f32           nchw       lanes:8,tile_c:2/4,tile_y:7         3x3 stride_1 channels_per_group%4=0 depth_per_pixel>=16 weight_size>=1048576 phase_filled_8>=80 height%7=0 avx512>=1)
row(cpu  deep_columns_s2     rows                  phase_columns     f32           nchw       lanes:8,tile_c:2/4,tile_y:2         3x3 stride_2 padding_left=1 padding_top=1 channels_per_group%4=0 depth_per_pixel>=16 weight_size>=1048576 phase_filled_8>=80 avx512>=1)
row(cpu  deep_5              packed                broadcast         f32           nhwc       block:64,tile_x:5,outer:1           stride_1 bounded_copy depth_per_pixel>=16 width%5=0 avx512=0)
row(cpu  deep_3              packed                broadcast         f32           nhwc       block:64,tile_x:3,tile_y:2,outer:1  stride_1 bounded_copy depth_per_pixel>=16 width%3=0 height>=2 avx512=0)
row(cpu  deep                packed                broadcast         f32,f16       nhwc       block:64,outer:1                    stride_1 bounded_copy depth_per_pixel>=16)
row(cpu  deep                packed                broadcast         bf16          nhwc       block:32,outer:1                    stride_1 bounded_copy depth_per_pixel>=16)
# deep_5, deep_3, staged_5, staged_3, line_8, windows, and blocks of 8 and 24 channels: as conv2d's. bench --family
# conv2d_backward_data --list input=1x5x5x256,weight=64x3x3x256,padding=1 --row deep takes 1.3 times as long as deep_5, of 6x6
# pixels 1.4 times as deep_3, --list input=1x112x112x32,weight=4x3x1x32,padding=1x0 --row staged_32 3.6 times as windows (Zen 3).
row(cpu  line_8              packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:10,windows:1,unroll:1         stride_1 bounded_copy height<=1 kernel_w>=2 channels_per_group<=8 groups=1 dilation_x=1 avx512=0)
row(cpu  windows_8           packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:4,tile_y:2,windows:1,unroll:1 stride_1 bounded_copy filters_per_group<=12 channels_per_group<=8 groups=1 dilation_x=1 avx512=0)
row(cpu  windows_24          packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4,windows:1,unroll:1 stride_1 bounded_copy filters_per_group<=12 channels_spared_24>=8 groups=1 dilation_x=1 avx512=0)
row(cpu  windows             packed                broadcast         f32           nhwc       tile_x:4,windows:1,unroll:1         stride_1 bounded_copy filters_per_group<=12 groups=1 dilation_x=1 avx512=0)
row(cpu  staged_8            packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:4,tile_y:2           stride_1 bounded_copy channels_per_group<=8 avx512=0)
row(cpu  staged_24           packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4           stride_1 bounded_copy channels_spared_24>=8 avx512=0)
row(cpu  staged_5            packed                broadcast         f32           nhwc       block:16,tile_x:5                   stride_1 bounded_copy channels_per_group>=9 width%5=0 avx512=0)
row(cpu  staged_3            packed                broadcast         f32           nhwc       block:16,tile_x:3,tile_y:2          stride_1 bounded_copy channels_per_group>=9 width%3=0 height>=2 avx512=0)
row(cpu  staged_32_line      packed                broadcast         f32,f16       nhwc       block:32,tile_x:10,stage:1          stride_1 bounded_copy channels_per_group>=17 height<=1)
row(cpu  staged_48           packed                broadcast         f32           nhwc       block:48,tile_x:8,stage:1           stride_1 bounded_copy channels_spared>=16)
row(cpu  staged_32           packed                broadcast         f32,f16       nhwc       block:32,tile_y:2/1,stage:1/2       stride_1 bounded_copy channels_per_group>=17)
row(cpu  staged_64           packed                broadcast         bf16          nhwc       block:32,stage:1                    stride_1 bounded_copy channels_per_group%64=0 channels_per_group>=128)
row(cpu  staged_7            packed                broadcast         f32           nhwc       -                                   stride_1 bounded_copy out_w%7=0)
row(cpu  staged              packed                broadcast         f32,f16,bf16  nhwc       tile_x:8                            stride_1 bounded_copy)
row(cpu  any                 flip_expand           buffered_phases   f32,f16,bf16  nhwc       -)

# GPU: by the schedules of conv2d, with c and k in each other's place (tile_k is of c), so the ladder is conv2d's. `any`
# runs the phases of a stride. Products take them one by one, as problems of stride 1: rows apart store to pixels
# that are no line, 16 divisions a thread more than those that store to a line, and the same main loop. Rows of bf16 of nhwc,
# and those in parts, stage the filter as memory has it, channels next to each other, and have no copy of it first: a thread of bf16
# stores pairs, half sectors of which the next store has the rest. Depthwise ones of a stride of 1 have conv2d's tiles, too,
# with smaller ones for small images of nchw; of 2, where paddings are known, each thread has whole phases: by the
# model of an H100 a fifth of the time of a thread an element (docs/performance/nvidia-h100.md). rows, rows_4: of nchw
# and 1x1 filters, read vectors of 8 and 4 pixels as they are; of f32 a thread stores four at once, where the gradient's own
# rows are vectors, which a phase's are not: 0.85 to 0.92 of the time of products (counts --list resnet50 --family
# conv2d_backward_data --type f32 --batch 32 --layout nchw, with and without it). rows_4_128: as conv2d's.
#        row                algorithm           schedule            types         layouts    knobs                                                              budget                                                          where
row(cuda depthwise3x3_s1_small depthwise_tiles     tile_of_groups      f32,f16,bf16  nhwc       tile_x:8,each_y:2                                                  shared:13952,registers:56,conflicts:1.2,sectors:1.1             short depthwise 3x3 stride_1 width<=8)
row(cuda depthwise3x3_s1_small depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       tile_g:16,tile_x:8,tile_y:8,each_y:4                               shared:6976,registers:48,conflicts:1.65,sectors:2.15            short depthwise 3x3 stride_1 width<=16)
row(cuda depthwise3x3_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nhwc       -                                                                  shared:24192,registers:64,conflicts:1.15,sectors:1.05           short depthwise 3x3 stride_1)
row(cuda depthwise3x3_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       -                                                                  shared:9320,registers:48,conflicts:1.0,sectors:1.3              short depthwise 3x3 stride_1)
row(cuda depthwise3x3_s2    flip_expand_tiles   tile_of_phases      f32,f16,bf16  nhwc       -                                                                  shared:1152,registers:48,conflicts:1.0,sectors:1.1              short depthwise 3x3 stride_2 padding_left=1 padding_top=1)
row(cuda depthwise3x3_s2    flip_expand_tiles   tile_of_phases      f32,f16,bf16  nchw       -                                                                  shared:72,registers:40,conflicts:1.0,sectors:1.65               short depthwise 3x3 stride_2 padding_left=1 padding_top=1)
row(cuda depthwise5x5_s1_small depthwise_tiles     tile_of_groups      f32,f16,bf16  nhwc       tile_x:8,each_y:2                                                  shared:21632,registers:96,conflicts:1.7,sectors:1.15            short depthwise 5x5 stride_1 width<=8)
row(cuda depthwise5x5_s1_small depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       tile_g:16,tile_x:8,tile_y:8,each_y:4                               shared:10816,registers:56,conflicts:1.8,sectors:1.9            short depthwise 5x5 stride_1 width<=16)
row(cuda depthwise5x5_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nhwc       -                                                                  shared:33920,registers:128,conflicts:1.55,sectors:1.1           short depthwise 5x5 stride_1)
row(cuda depthwise5x5_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       -                                                                  shared:10568,registers:56,conflicts:1.05,sectors:1.25            short depthwise 5x5 stride_1)
row(cuda depthwise5x5_s2    flip_expand_tiles   tile_of_phases      f32,f16,bf16  nhwc       -                                                                  shared:3200,registers:80,conflicts:1.0,sectors:1.25             short depthwise 5x5 stride_2 padding_left=2 padding_top=2)
row(cuda depthwise5x5_s2    flip_expand_tiles   tile_of_phases      f32,f16,bf16  nchw       -                                                                  shared:200,registers:64,conflicts:1.0,sectors:2.0               short depthwise 5x5 stride_2 padding_left=2 padding_top=2)
row(cuda depthwise7x7_s1_small depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       tile_g:16,tile_x:8,tile_y:8,each_y:4                               shared:15680,registers:56,conflicts:1.95,sectors:1.85            short depthwise 7x7 stride_1 width<=16)
row(cuda depthwise7x7_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nhwc       -                                                                  shared:45696,registers:56,conflicts:1.45,sectors:1.15,fma:0.65  short depthwise 7x7 stride_1)
row(cuda depthwise7x7_s1    depthwise_tiles     tile_of_groups      f32,f16,bf16  nchw       -                                                                  shared:11944,registers:64,conflicts:1.05,sectors:1.25,fma:0.4    short depthwise 7x7 stride_1)
row(gpu  depthwise_s1       depthwise           thread_per_group    f32,f16,bf16  nhwc,nchw  -                                                                  shared:0,registers:40,sectors:3.95                              short depthwise stride_1)
row(gpu  depthwise_any      flip_expand         thread_per_element  f32,f16,bf16  nhwc,nchw  -                                                                  shared:0,registers:40,sectors:4.3                               short depthwise)
row(cuda matrices_parts_64  products_in_parts   matrices            f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:64,warps_x:2                            shared:32768,registers:104,conflicts:1.0,sectors:1.0,fma:0.15    line_of_vectors few_steps few_small_input_tiles stride_1)
row(cuda matrices_parts     products_in_parts   matrices            f16,bf16      nhwc       -                                                                  shared:49152,registers:144,conflicts:1.0,sectors:1.0             line_of_vectors few_steps few_input_tiles stride_1)
row(cuda matrices_parts     products_in_parts   matrices            f32           nhwc       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.15   line_of_vectors few_tf32_steps few_input_tiles stride_1)
row(cuda matrices_1x1       products            matrices            f16           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.1,fma:0.4    line_of_vectors few_steps 1x1 stride_1 out_h<=1)
row(cuda matrices_1x1       products            matrices            bf16          nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.4,fma:0.4    line_of_vectors few_steps 1x1 stride_1 out_h<=1)
row(cuda matrices_halos     products_of_halos   matrices            f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                            shared:61440,registers:168,conflicts:1.0,sectors:1.35,fma:0.23   line_of_vectors few_steps 3x3 stride_1 input_halo_spared>=0)
row(cuda matrices_64        products            matrices            f16           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.1,fma:0.2    line_of_vectors few_steps stride_1 channels_per_group<=64)
row(cuda matrices_64        products            matrices            bf16          nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:144,conflicts:1.0,sectors:1.15,fma:0.15   line_of_vectors few_steps stride_1 channels_per_group<=64)
row(cuda matrices           products            matrices            f16,bf16      nhwc       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.3,fma:0.2    line_of_vectors few_steps stride_1)
row(cuda matrices_apart_64  products_apart      matrices            f16           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.1,fma:0.35   vectors few_steps stride_1 channels_per_group<=64)
row(cuda matrices_apart_64  products_apart      matrices            bf16          nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.35,fma:0.35   vectors few_steps stride_1 channels_per_group<=64)
row(cuda matrices_apart     products_apart      matrices            f16           nhwc       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.15,fma:0.2   vectors few_steps stride_1)
row(cuda matrices_apart     products_apart      matrices            bf16          nhwc       -                                                                  shared:49152,registers:136,conflicts:1.0,sectors:1.15,fma:0.2   vectors few_steps stride_1)
row(cuda matrices_1x1       products            matrices            f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.35    line_of_vectors few_tf32_steps 1x1 stride_1 out_h<=1)
row(cuda matrices_64        products            matrices            f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.0,fma:0.2    line_of_vectors few_tf32_steps stride_1 channels_per_group<=64)
row(cuda matrices           products            matrices            f32           nhwc       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.2     line_of_vectors few_tf32_steps stride_1)
row(cuda matrices_apart_64  products_apart      matrices            f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.0,fma:0.25    vectors few_tf32_steps stride_1 channels_per_group<=64)
row(cuda matrices_apart     products_apart      matrices            f32           nhwc       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.2   vectors few_tf32_steps stride_1)
row(cuda matrices_parts     products_in_parts   matrices            f16,bf16      nchw       -                                                                shared:49152,registers:136,conflicts:1.0,sectors:1.6,fma:0.4   copied_vectors few_steps few_input_tiles stride_1)
row(cuda rows_4_128         products_of_rows    matrices            f16,bf16      nchw       tile_k:128,warps_k:4,tile_x:128,warps_x:2,vector:4,stages:3         shared:49152,registers:128,conflicts:1.0,sectors:1.4,fma:0.35   copied_vectors few_steps 1x1 rows_of_half_vectors square_input_tiles)
row(cuda rows               products_of_rows    matrices            f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                            shared:49152,registers:136,conflicts:1.0,sectors:1.4,fma:0.45   copied_vectors few_steps 1x1 rows_of_vectors)
row(cuda rows_4             products_of_rows    matrices            f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2,vector:4                   shared:49152,registers:160,conflicts:1.0,sectors:1.6,fma:0.45  copied_vectors few_steps 1x1 rows_of_half_vectors)
row(cuda matrices_1x1       products_apart      matrices            f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.6,fma:0.4   copied_vectors few_steps 1x1 stride_1)
row(cuda matrices_halos     products_of_halos   matrices            f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                            shared:61440,registers:168,conflicts:1.0,sectors:1.7,fma:0.25   copied_vectors few_steps 3x3 stride_1 input_halo_spared>=0)
row(cuda matrices_64        products_apart      matrices            f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.65,fma:0.3   copied_vectors few_steps stride_1 channels_per_group<=64)
row(cuda matrices           products_apart      matrices            f16,bf16      nchw       -                                                                  shared:49152,registers:128,conflicts:1.0,sectors:1.65,fma:0.25   copied_vectors few_steps stride_1)
row(cuda matrices_parts     products_in_parts   matrices            f32           nchw       tile_k:64,warps_k:2,tile_x:64,warps_x:2                            shared:32768,registers:104,conflicts:1.0,sectors:1.45,fma:0.15   copied_vectors few_tf32_steps few_input_tiles stride_1)
row(cuda matrices_1x1       products_apart      matrices            f32           nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.5,fma:0.35   copied_vectors few_tf32_steps 1x1 stride_1)
row(cuda matrices_64        products_apart      matrices            f32           nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.4,fma:0.3   copied_vectors few_tf32_steps stride_1 channels_per_group<=64)
row(cuda matrices           products_apart      matrices            f32           nchw       -                                                                  shared:49152,registers:136,conflicts:1.0,sectors:1.5,fma:0.2   copied_vectors few_tf32_steps stride_1)
row(cuda products_parts     products_in_parts   outer_products      f32           nhwc       tile_k:128,tile_x:64,threads_k:16,threads_x:8                      shared:43008,registers:128,conflicts:1.1,sectors:1.0,fma:0.9    line_of_vectors short few_input_tiles stride_1 channels_per_group>=48)
row(cuda products           products            outer_products      f32           nhwc       -                                                                  shared:39936,registers:128,conflicts:1.1,sectors:1.0,fma:0.9    line_of_vectors short stride_1 channels_per_group>=24)
row(cuda products_apart     products_apart      outer_products      f32           nhwc       -                                                                  shared:39936,registers:128,conflicts:1.1,sectors:1.0,fma:0.9    vectors short stride_1 channels_per_group>=24)
row(cuda products_parts     products_in_parts   outer_products      f32           nchw       tile_k:128,tile_x:64,threads_k:16,threads_x:8                      shared:36864,registers:128,conflicts:1.1,sectors:1.45,fma:0.9   copied_vectors short few_input_tiles stride_1 channels_per_group>=48)
row(cuda rows               products_of_rows    outer_products      f32           nchw       -                                                                  shared:36864,registers:136,conflicts:1.0,sectors:1.2,fma:0.9    copied_vectors short 1x1 stride_1 image_alignment>=16 output_alignment>=16 out_w%4=0 channels_per_group>=24)
row(cuda products           products_apart      outer_products      f32           nchw       -                                                                  shared:36864,registers:128,conflicts:1.1,sectors:1.75,fma:0.9   copied_vectors short stride_1 channels_per_group>=24)
row(gpu  1x1                flip_expand_sliced  staged              f32           nhwc,nchw  -                                                                  shared:4224,registers:64,conflicts:1.0,sectors:2.3,fma:0.6      short 1x1 stride_1)
row(gpu  1x1                flip_expand_sliced  staged              f16,bf16      nhwc       -                                                                  shared:4224,registers:64,conflicts:1.0,sectors:2.1,fma:0.6      short 1x1 stride_1)
row(gpu  1x1                flip_expand_sliced  staged              f16,bf16      nchw       -                                                                  shared:4224,registers:64,conflicts:1.0,sectors:3.4              short 1x1 stride_1)
row(gpu  few                flip_expand_sliced  staged              f32           nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:8832,registers:104,conflicts:1.45,sectors:2.2,fma:0.6    short channels_per_group<=16)
row(gpu  3x3_large          flip_expand_sliced  staged              f32           nhwc,nchw  tile_k:128,tile_x:16,threads_x:8,threads_y:2                       shared:43776,registers:128,conflicts:1.75,sectors:1.75,fma:0.8  short 3x3 stride_1 channels_per_group>=128 out_w>=28 out_h>=28)
row(gpu  3x3                flip_expand_sliced  staged              f32,f16,bf16  nhwc,nchw  -                                                                  shared:22784,registers:64,conflicts:1.35,sectors:2.0,fma:0.8    short 3x3 stride_1)
row(gpu  3x3_small          flip_expand_sliced  staged              f32           nhwc,nchw  tile_c:4                                                           shared:11392,registers:88,conflicts:1.2,sectors:1.55,fma:0.8    short 3x3 stride_1)
row(gpu  1x3                flip_expand_sliced  staged              f32           nhwc,nchw  -                                                                  shared:9088,registers:80,conflicts:1.1,sectors:1.9,fma:0.65     short 1x3 stride_1)
row(gpu  1x3                flip_expand_sliced  staged              bf16          nhwc       -                                                                  shared:9088,registers:80,conflicts:1.1,sectors:1.9,fma:0.65     short 1x3 stride_1)
row(gpu  1x3                flip_expand_sliced  staged              bf16          nchw       -                                                                  shared:9088,registers:80,conflicts:1.1,sectors:2.0,fma:0.65    short 1x3 stride_1)
row(gpu  3x1                flip_expand_sliced  staged              f32,bf16      nhwc,nchw  -                                                                  shared:9088,registers:80,conflicts:1.4,sectors:2.2,fma:0.7      short 3x1 stride_1)
row(gpu  any                flip_expand_sliced  staged              f32,f16,bf16  nhwc       -                                                                  shared:4224,registers:80,conflicts:1.0,sectors:2.5,fma:0.6      short)
row(gpu  any                flip_expand_sliced  staged              f32,f16,bf16  nchw       -                                                                  shared:4224,registers:64,conflicts:1.5,sectors:2.5,fma:0.55     short)
row(gpu  unstaged           flip_expand_blocks  thread_per_element  f32,f16,bf16  nhwc       -                                                                  shared:0,registers:56,sectors:1.45)
row(gpu  unstaged           flip_expand_blocks  thread_per_element  f32           nchw       -                                                                  shared:0,registers:64,sectors:1.15)
row(gpu  unstaged           flip_expand_blocks  thread_per_element  f16,bf16      nchw       -                                                                  shared:0,registers:64,sectors:1.2)

# The second formulation has the rows that the first has for the case that it is known from. Selection takes those of
# the first, which come before them.
#        row              algorithm           schedule  types     layouts  knobs  budget                                                       where
row(gpu  1x3_expand_flip  expand_flip_sliced  staged    f32,bf16  nhwc     -      shared:9088,registers:80,conflicts:1.0,sectors:1.9,fma:0.7   short 1x3 stride_1 never_selected)

#        row                 algorithm             schedule          types         layouts    knobs                               where
row(cpu  any_expand_flip     expand_flip           buffered_phases   f32,bf16      nhwc       -                                   never_selected)
