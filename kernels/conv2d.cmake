kernel_family(conv2d FIELDS convolution/fields.def)
include(kernels/terms/convolution.cmake)

# Sums of more than 32768 terms are added up in blocks (generators/long_sum.h), by a row of their own on the CPU, by
# the last rung on a GPU: no other row keeps their digits.
term(short depth<=32768)
# Sums of tensor cores are cut off at each of 9 summands of a step: 8 terms and the sum before. 1820 steps are within
# the error that hk/conv2d.h promises.
term(few_steps depth<=14336)
term(few_tf32_steps depth<=13056 tf32=1)  # steps of 4 terms
term(few_window_steps vectors<=1792)
term(few_tf32_window_steps vectors<=3264 tf32=1)

# groups_in_place is the number of groups where the output is in place of the residual, else 0. The last tiles and
# vectors of a depthwise row begin before the end of those before them, and would add the residual twice: in place tiles
# end where the image does, and groups are whole vectors.
term(not_in_place groups_in_place<=0)

# What a tile copies of its input: padded rows of depthwise rows, a vector of groups at a time; at most some tens of
# megabytes. A window that is spread over far more pixels than its taps meet is copied for little use: 256 groups at
# 33x33, 3x3, on one Zen 4 core, with a dilation of 18 (spread 152) nhwc 1.9 ms by the bounded rows, 4.1 by `any`; 36
# (592) 6.1 and 2.6 (bench --list c=256,k=256,groups=256,h=33,w=33,kh=3,kw=3,dil_h=18,dil_w=18,pad_h=18,pad_w=18, and with
# --row any).
term(bounded_rows copied<=1048576 spread<=256)
term(copied_window window<=1048576 copied<=16777216 spread<=4096)
term(bounded_copy copied_window stride_x<=8 stride_y<=64)
# Taps of a row of a filter of any width, four together, that meet columns next to each other.
term(wide_s1 stride_x=1 dilation_x=1 kernel_w>=4)
term(columns_rows copied<=1048576)
# Planes of the output are lines, of two tiles of 48 columns at least. What a task copies is limited by the depth.
term(panels line=1 out_pixels>=96 bounded_copy)
# Of AVX2: images of more than one row. Patches of a large stride lie apart in any case.
term(copied_panels line=1 out_h>=2 out_pixels>=96 depth>=256 depth<=1023 copied_window stride_x<=64 stride_y<=64 avx512=0)
# Whole planes of 16 groups are transposed, a vector of pixels and four columns at a time. A task keeps them, 16 MB at
# most; depthwise, below, keeps rows. At 512x512 planes are 1.5 to 2.4 times as fast (bench --layout nchw --list
# input=1x512x512x32,weight=32x5x5x1,groups=32,padding=2, and with --row depthwise; Xeon, family 6, model 167).
term(planes line=1 groups>=16 width>=4 out_pixels>=16 out_pixels<=262144 bounded_rows)
term(grouped4 channels_per_group=4 filters_per_group=4 groups%4=0 grouped_rows)

# Blocks of 32 filters have nothing else in their place, or next to nothing.
term(full_32 filled_32>=93)

# What vdpbf16ps multiplies and adds up: an image of whole pairs of channels needs no copy that fills up the last one.
term(pairs channels_per_group%2=0)

# CPU.
#        row                    algorithm             schedule          types         layouts    knobs                                where
row(cpu  long                   packed                broadcast_blocks  f32,f16,bf16  nhwc,nchw  tile_x:4,stage:0                     depth>=32769)
# Products of matrices, of 16 by 16 sums (schedules/conv2d/cpu/tiles.cpp), 3 to 9 times as fast as the rows that take bf16
# behind them (bench --type bf16 --list resnet50, the others by --row 1x1, --row staged). tiles_1x1 reads the image where it is, 1.1 to 1.5 times as fast as tiles_line, which copies it to fill up
# slices of 32 channels (explorer run conv2d resnet50 --type bf16 --row tiles_line); tiles_narrow, to 8 columns, 1.8 times as
# fast as tiles (explorer run conv2d 7x7_512-512_3x3 14x14_1024-2048_1x1_s2 --type bf16 --row tiles).
row(amx  tiles_1x1              slices_of_line        tiles             bf16          nhwc       -                                    1x1 stride_1 channels_per_group%32=0 filters_per_group>=16 out_w>=32)
row(amx  tiles_line             slices                tiles             bf16          nhwc       tiles_x:2,tiles_y:1,chunk:4,panel:512  1x1 stride_1 channels_per_group>=16 filters_per_group>=16 out_w>=32)
row(amx  tiles_rgb              slices_of_windows     tiles             bf16          nhwc       -                                    channels_per_group=3 dilation_x=1 filters_per_group>=16 out_w<=2048 bounded_copy)
row(amx  tiles_narrow           slices_of_taps        tiles             bf16          nhwc       -                                    channels_per_group>=16 filters_per_group>=16 out_w>=2 out_w<=8 bounded_copy)
row(amx  tiles                  slices                tiles             bf16          nhwc       -                                    channels_per_group>=16 filters_per_group>=16 bounded_copy)
# Depthwise: vectors of groups, which images in rows (nchw) are transposed to and back, whole planes as lines
# (depthwise_planes), unless planes of the output are spaced, have few pixels or very many, or groups are few. 3x3 with a
# stride of 1 takes planes in f32 alone, of up to 32 columns: else vectors of columns are as fast (explorer run conv2d
# depthwise --layout nchw --row depthwise3x3_s1_small, the other by --row depthwise3x3_s1).
# _large: images that a core's cache does not hold are read a tile of whole pixels at a time, in the order of memory. A vector
# of groups at a time they would come line by line, a pixel apart, which nothing prefetches: 1.2 to 2.1 times as fast on a
# Xeon of family 6, model 167 (explorer run conv2d input=1x80x80x128,weight=128x3x3x1,groups=128,padding=1 --knobs
# stage:0,tile_x:4,tile_y:2). The fixed widths are those of networks for pictures of 224 pixels: with the edges known, small
# images are faster, of bf16 1.2 to 1.7 times (bench --list mobilenetv2 --row depthwise3x3_s1 is without, of a stride of 2
# --row depthwise3x3_s2).
# _line: one row, of sounds and of texts, by tiles of 6 pixels of 64 groups: 2.7 times as fast (bench --list
# input=1x1x4000x512,weight=512x1x3x1,groups=512,padding=0x1,stride=1x2, the other by --row depthwise). _line_s1, of 7 by 16:
# with the stride known the edges have code of their own and the inside compares nothing
# (bench --list audio --filter depthwise, the other by --row depthwise_line: 1.2 to 1.4 times as long).
# _wide: four taps of a row share what they read, 1.2 to 1.5 times as fast (bench --list
# input=1x28x28x256,weight=256x31x31x1,groups=256,padding=15, the other by --row depthwise; of nchw by --row
# depthwise_planes; _line_wide, and _line of nchw, as above).
row(cpu  depthwise3x3_s1_large  depthwise             sliding           f32           nhwc       stage:0,tile_x:4,tile_y:2,whole:1/0  depthwise 3x3 stride_1 groups>=32 not_in_place out_w>=4 out_h>=2 inputs>=393216)
row(cpu  depthwise3x3_s2_large  depthwise             sliding           f32,f16,bf16  nhwc       stage:0,tile_x:4,tile_y:2,whole:1/0  depthwise 3x3 stride_2 groups>=32 not_in_place out_w>=4 out_h>=2 inputs>=786432)
row(cpu  depthwise_line_s1      depthwise             sliding           f32           nhwc       stage:0,tile_x:7,whole:1              depthwise stride_x=1 kernel_h=1 kernel_w<=7 groups>=128 not_in_place out_w>=7 out_h<=1 outputs>=32768)
row(cpu  depthwise_line         depthwise             sliding           f32           nhwc       stage:0,tile_x:6,vectors:4,whole:1   depthwise kernel_w<=7 groups>=128 not_in_place out_w>=6 out_h<=1 outputs>=32768)
row(cpu  depthwise3x3_s1_w7     depthwise             sliding           f32,bf16      nhwc       -                                    depthwise 3x3 same_7 groups>=16 not_in_place)
row(cpu  depthwise3x3_s1_w14    depthwise             sliding           f32,bf16      nhwc       tile_x:14                            depthwise 3x3 same_14 groups>=16 not_in_place)
row(cpu  depthwise3x3_s1_w28    depthwise             sliding           f32           nhwc       tile_y:2                             depthwise 3x3 same_28 groups>=16 not_in_place out_h>=2)
row(cpu  depthwise3x3_s2_w14    depthwise             sliding           f32,bf16      nhwc       vectors:2                            depthwise 3x3 half_14 groups>=32 not_in_place avx512>=1)
row(cpu  depthwise3x3_s2_w28    depthwise             sliding           f32           nhwc       -                                    depthwise 3x3 half_28 groups>=16 not_in_place)
row(cpu  depthwise3x3_s2_w56    depthwise             sliding           f32           nhwc       -                                    depthwise 3x3 half_56 groups>=16 not_in_place)
row(cpu  depthwise3x3_s1_small  depthwise             sliding           f32           nhwc       vectors:2                            depthwise 3x3 stride_1 groups>=32 not_in_place out_w>=7 out_w<=16)
row(cpu  depthwise3x3_s1        depthwise             sliding           f32,f16,bf16  nhwc       stage:0,tile_y:2                     depthwise 3x3 stride_1 groups>=16 not_in_place out_w>=7 out_h>=2)
row(cpu  depthwise3x3_s2        depthwise             sliding           f32,f16,bf16  nhwc       stage:0,tile_x:4,tile_y:2            depthwise 3x3 stride_2 groups>=16 not_in_place out_w>=4 out_h>=2)
row(cpu  depthwise5x5_s1        depthwise             sliding           f32           nhwc       vectors:2,stage:0                    depthwise 5x5 stride_1 groups>=32 not_in_place out_w>=7 bounded_rows)
row(cpu  depthwise5x5_s1        depthwise             sliding           f16,bf16      nhwc       -                                    depthwise 5x5 stride_1 groups>=16 not_in_place out_w>=7 bounded_rows)
row(cpu  depthwise5x5_s2        depthwise             sliding           f32           nhwc       vectors:2,tile_x:4,stage:0           depthwise 5x5 stride_2 groups>=32 not_in_place out_w>=7 bounded_rows)
row(cpu  depthwise7x7_s1        depthwise             sliding           f32           nhwc       vectors:2,stage:0                    depthwise 7x7 stride_1 groups>=32 not_in_place out_w>=7 bounded_rows)
row(cpu  depthwise_line_wide    depthwise             sliding           f32           nhwc       tile_x:10,taps:4                     depthwise wide_s1 groups>=16 not_in_place out_w>=10 out_h<=1 bounded_rows)
row(cpu  depthwise_wide         depthwise             sliding           f32           nhwc       tile_x:7,tile_y:2,taps:4             depthwise wide_s1 groups>=16 not_in_place out_w>=7 out_h>=2 bounded_rows)
row(cpu  depthwise              depthwise             sliding_in_place  f32,f16,bf16  nhwc       tile_x:4                             depthwise groups>=16 groups_in_place%16=0 bounded_rows)
# depthwise_8: of fewer than 16 groups; bench --list input=2x40x40x8,weight=8x7x7x1,padding=3,groups=8 --row staged_8 takes 13
# times as long on Zen 3.
row(cpu  depthwise_8            depthwise             sliding           f32           nhwc       lanes:8,tile_x:4,tile_y:1            depthwise groups>=8 not_in_place out_w>=4 bounded_rows)
row(cpu  depthwise_line         depthwise_planes      planes            f32           nchw       tile_x:10,tile_y:1,taps:4            depthwise stride_x=1 dilation_x=1 planes out_h<=1)
row(cpu  depthwise3x3_s1_small  depthwise_planes      planes            f32           nchw       -                                    depthwise 3x3 stride_1 planes out_w<=32)
row(cpu  depthwise3x3_s1        depthwise_rows        sliding           f32,f16,bf16  nchw       lanes:8,tile_y:7                     depthwise 3x3 stride_1 bounded_rows)
row(cpu  depthwise3x3_s2        depthwise_planes      planes            f32,f16,bf16  nchw       -                                    depthwise 3x3 stride_2 planes)
row(cpu  depthwise5x5_s1        depthwise_planes      planes            f32,f16,bf16  nchw       -                                    depthwise 5x5 stride_1 planes)
row(cpu  depthwise5x5_s2        depthwise_planes      planes            f32           nchw       -                                    depthwise 5x5 stride_2 planes)
row(cpu  depthwise7x7_s1        depthwise_planes      planes            f32           nchw       -                                    depthwise 7x7 stride_1 planes)
row(cpu  depthwise_wide         depthwise_planes      planes            f32           nchw       taps:4                               depthwise wide_s1 planes)
row(cpu  depthwise_planes       depthwise_planes      planes            f32,f16,bf16  nchw       -                                    depthwise planes)
row(cpu  depthwise              depthwise_transposed  sliding           f32           nchw       -                                    depthwise groups>=9 width>=4 bounded_rows)
row(cpu  depthwise_any          depthwise             sliding           f32,f16,bf16  nchw       -                                    depthwise bounded_rows)
# Few channels a group: vectors across groups (4, 8), whose filters are so small that a task packs them, or the sizes
# known to the compiler (16, 32). Fixed widths where they gain a tenth over the rows below (bench --list resnext50
# --row …).
row(cpu  grouped4_3x3_s1        grouped               grouped           f32,f16,bf16  nhwc       -                                    grouped4 3x3 stride_1 out_w>=7)
row(cpu  grouped16_3x3_s2_w28   packed                grouped           f32           nhwc       -                                    grouped16 3x3 half_28)
row(cpu  grouped32_3x3_s1_w7    packed                grouped           f32           nhwc       -                                    grouped32 3x3 same_7)
row(cpu  grouped16_3x3_s1_w14   packed                grouped           f32           nhwc       tile_x:14                            grouped16 3x3 same_14)
row(cpu  grouped8_3x3_s1        grouped               grouped           f32,f16,bf16  nhwc       -                                    grouped8 3x3 stride_1 out_w>=7)
row(cpu  grouped8_3x3_s2        grouped               grouped           f32,f16,bf16  nhwc       across:1,tile_x:14,depth:1           grouped8 3x3 stride_2 out_w>=7)
# Long sums for few pixels: the filter is read as it is. Otherwise it is packed, in each call unless it is prepared
# (hk/filter.h).
row(cpu  1x1_dot                dot                   dot               f32           nhwc       -                                    prepared=0 1x1 stride_1 channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=7)
row(cpu  1x1_dot                dot                   dot               f16,bf16      nhwc       -                                    prepared=0 1x1 stride_1 channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=5)
row(cpu  3x3_dot                dot                   dot               f32,f16,bf16  nhwc       -                                    prepared=0 3x3 channels_per_group%16=0 filters_per_group%4=0 depth_per_pixel>=40)
# few_filters: vectors of filters would be mostly empty; tasks are rows (schedules/cpu_dot.h). bench --list
# input=1x56x56x64,weight=3x3x3x64,padding=1 --row staged_8 takes 2.4 times as long on Zen 3,
# input=1x112x112x32,weight=1x3x3x32,padding=1 5 times.
row(cpu  few_filters            dot                   dot               f32           nhwc       tile_k:1,tile_x:8,rows:8             filters_per_group<=4 channels_per_group%16=0 depth>=96 copied_window stride_x<=8 stride_y<=8)
# rgb: the first layer; a picture's three channels are no vector, nor are four (bench --list first_layers --filter 64x64,
# the other by --row staged_32). A loop over one channel is all overhead, as is one over a few where sums leave no register
# free: windows sums over what a row of a window meets instead (bench --list small_images --filter n8_; by --row staged_32
# 28x28_1-32_3x3 takes 3.3 times as long, by --row staged 14x14_6-16_5x5 twice). columns, of nchw: vectors of neighbouring
# columns instead of filters, whose sums need not be stored one by one. 1x1_columns_long: what eight tiles read would not
# stay in a core's cache.
# _copied: tiles of AVX2 have a quarter of the sums, and read the image as much more often, here from a copy in one piece
# (schedules/conv2d/cpu/column_tiles.cpp). panels_s2 stands before rgb_s2, which takes pictures with few filters.
row(cpu  line_8                 packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:10,windows:1,unroll:1         out_h<=1 kernel_w>=2 filters_per_group<=8 groups=1 dilation_x=1 bounded_copy avx512=0)
row(cpu  windows_8              packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:4,tile_y:2,windows:1,unroll:1 channels_per_group<=12 kernel_w>=2 filters_per_group<=8 groups=1 dilation_x=1 bounded_copy avx512=0)
row(cpu  windows_24             packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4,windows:1,unroll:1 channels_per_group<=12 kernel_w>=2 filters_spared_24>=8 groups=1 dilation_x=1 bounded_copy avx512=0)
row(cpu  rgb_32                 packed                broadcast         f32           nhwc       block:32/16,tile_x:7/8               channels_per_group=3 full_32 bounded_copy)
row(cpu  rgb                    packed                broadcast         f32,f16,bf16  nhwc       tile_x:8                             channels_per_group=3 bounded_copy)
row(cpu  four_channels          packed                broadcast         f32           nhwc       block:32/16,tile_x:8                 channels_per_group=4 bounded_copy)
row(cpu  one_channel            packed                broadcast         f32           nhwc       tile_x:8                             channels_per_group=1 groups=1 bounded_copy)
row(cpu  panels_copied_s2       packed_panels         columns           f32           nchw       copies:1,chunk:8,of_task:2048        stride_2 filters_per_group>=48 copied_panels)
row(cpu  panels_s2              packed_panels         columns           f32           nchw       inner:1,chunk:8,of_task:2048         stride_2 depth<=255 filters_per_group>=24 panels)
row(cpu  panels_s2_long         packed_panels         columns           f32           nchw       inner:1,chunk:4,of_task:2048,plain:0 stride_2 depth<=1023 filters_per_group>=24 panels)
row(cpu  rgb_s1                 packed                columns           f16,bf16      nchw       vectors:1,filters:16,rows:4,stage:2  channels_per_group=3 stride_1 out_w>=16 bounded_copy)
row(cpu  rgb_s2                 packed                columns           f32,f16,bf16  nchw       vectors:1,filters:16,rows:4,stage:2  channels_per_group=3 stride_2 out_w>=16 bounded_copy)
# Tiles of 64 filters by 6 pixels load 10 values for 24 multiplications, of 32 by 10 12 for 20, of 32 by 7 9 for 14. Those of
# 16 by 7 load 8 for 7, more than two multipliers can be fed, and are for what larger blocks would waste. _rows: with a
# stride pixels are rows that tiles of 10 would not fill; 14 of two rows share the filter's loads, as in staged_32. On a Xeon
# of family 6, model 167 1x1_64 is 1.06 to 1.1 times as fast as tiles of 32 by 7 (explorer run conv2d resnet50 --row 1x1_64
# --knobs block:32,chunk:4,outer:4,stage:0). 24 filters are three halves of a vector. Filters larger than a core's
# cache are read in passes over the pixels, a few blocks at a time, which stay in it: staged_32_large is 1.4 times as fast
# as staged_32 on model 207 (explorer run conv2d 28x28_256-256_3x3_s2 --row staged_32); in nchw each pass transposes the
# image again, in fewer of them (0.75 to 0.95 of the speed: model 167, --layout nchw --knobs block:32,tile_y:2,outer:2).
# With one multiply-add a cycle (tile_x:6/7: the second number) tiles of 16 by 7 have loads to spare, and pixels that are
# a power of two apart stay in the eight lines of a set of its first cache, as 14 don't: on Zen 4 1.4 times as fast (explorer
# run conv2d 14x14_1024-2048_1x1_s2 --knobs block:32,tile_y:2,chunk:4,outer:4,stage:0); 24 filters in halves of a vector 1.2
# times as two vectors (56x56_144-24_1x1 --knobs block:32,tile_x:7,chunk:4,stage:0).
# 1x1_pixels: few, in smaller tiles (bench --list one_pixel, the other by --row 1x1). 1x1_8, 1x1_24: as staged_8 and _24.
row(cpu  1x1_pixels             packed                broadcast         f32           nhwc       block:64,tile_x:2,outer:2,stage:0    1x1 out_w<=4)
row(cpu  1x1_pixels             packed                broadcast         f16           nhwc       block:64,tile_x:2,outer:2            1x1 out_w<=4)
row(cpu  1x1_pixels             packed                broadcast         bf16          nhwc       block:64,tile_x:2,outer:2,stage:0    1x1 out_w<=4 pairs)
row(cpu  1x1_8                  packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:10,chunk:8,stage:0 1x1 filters_per_group<=8 avx512=0)
row(cpu  1x1_24                 packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4,chunk:8,stage:0 1x1 filters_spared_24>=8 avx512=0)
row(cpu  1x1_to_24              packed                broadcast         f32           nhwc       lanes:16/8,block:32/24,tile_x:10/7,chunk:4,stage:0 1x1 filters_per_group=24 avx512>=1)
row(cpu  1x1_columns_copied     packed_columns        columns           f32           nchw       copies:1,chunk:8,of_task:1024        1x1 stride_1 channels_per_group>=32 filters_per_group>=40 out_w>=24 avx512=0 copied_nhwc=0)
row(cpu  1x1_columns_long       packed_columns        columns           f32           nchw       plain:0                              1x1 stride_1 channels_per_group>=384 out_w>=16 copied_nhwc=0)
row(cpu  1x1_columns            packed_columns        columns           f32           nchw       inner:1,chunk:8                      1x1 stride_1 out_w>=16 copied_nhwc=0)
row(cpu  1x1_columns            packed                columns           f16,bf16      nchw       -                                    1x1 stride_1 out_w>=400)
# Of nchw without AVX-512 a copy in nhwc and the rows of that are faster, as for grouped filters, few pixels, and few filters of
# many channels or with strides: copied_nhwc=0 leaves problems to them (runtime/src/convolution/channels_last.cpp has figures).
# 3x3_24: Winograd's blocks of 16 filters would leave a vector of two empty: bench --list
# input=1x56x56x64,weight=24x3x3x64,padding=1 --row winograd takes 1.2 times as long on Zen 3.
row(cpu  3x3_24                 packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4             3x3 stride_1 filters_spared_24>=8 filters_per_group<=24 channels_per_group>=16 bounded_copy avx512=0)
# Winograd's convolution (generators/conv2d/winograd.h) has a quarter of the products and transforms whose share grows
# as channels and filters get fewer: 16 to 16, half a block of filters, take 0.78 of the time on Zen 4, 32 to 32 0.35, of one
# group or of many (bench --list input=1x56x56x16,weight=16x3x3x16,padding=1, the other by --row grouped16_3x3). Of few
# filters, winograd_few, from more and full tiles on: of 14x14 pixels it would take 1.15 times as long in nchw as
# grouped16_s1.
row(cpu  winograd               winograd              winograd          f32           nhwc       -                                    3x3 stride_1 direct=0 channels_per_group>=16 filters_per_group>=24 winograd_tiles>=4 winograd_outputs>=8)
row(cpu  winograd               winograd              winograd          f32           nchw       -                                    3x3 stride_1 direct=0 channels_per_group>=16 filters_per_group>=24 winograd_tiles>=4 winograd_outputs>=8 avx512>=1)
row(cpu  winograd_few           winograd              winograd          f32           nhwc       -                                    3x3 stride_1 direct=0 channels_per_group>=16 filters_per_group>=16 winograd_tiles>=13 winograd_outputs>=14)
row(cpu  winograd_few           winograd              winograd          f32           nchw       -                                    3x3 stride_1 direct=0 channels_per_group>=16 filters_per_group>=16 winograd_tiles>=13 winograd_outputs>=14 avx512>=1)
row(cpu  grouped16_3x3          packed                grouped           f32,f16,bf16  nhwc       tile_y:2                             grouped16 3x3 out_w>=7 out_h>=2)
row(cpu  grouped32_3x3          packed                grouped           f32,f16,bf16  nhwc       -                                    grouped32 3x3 out_w>=7)
# panels (schedules/conv2d/cpu/column_tiles.cpp): any filter, of images in rows, from as many filters as pay for the copy,
# and up to as many terms as a core's cache holds panels of. With 16 filters a picture is slower, as is 28x28_256-256_3x3_s2
# (bench --layout nchw --list LIST --filter CASE --row ROW, in whose calls no cache has the filter). Tiles of AVX2 are
# copied once more where sums are long, of planes: a line keeps staged_32_line, which needs no copies (bench --layout nchw
# --list audio --filter 1x799).
row(cpu  panels_copied          packed_panels         columns           f32           nchw       copies:1,chunk:8,of_task:2048        filters_per_group>=48 copied_panels copied_nhwc=0)
row(cpu  panels_s4              packed_panels         columns           f32           nchw       inner:1,chunk:8,of_task:2048,plain:0 stride_4 depth<=1023 filters_per_group>=24 panels)
row(cpu  panels_s1              packed_panels         columns           f32           nchw       inner:1,chunk:8,of_task:2048         stride_1 depth<=1023 filters_per_group>=48 panels copied_nhwc=0)
row(cpu  panels                 packed_panels         columns           f32           nchw       inner:1,chunk:8,of_task:2048,plain:0 depth<=1023 filters_per_group>=48 panels copied_nhwc=0)
# Rows of all channels are copied with their padding once a task (stage:2) where filters are few and with stride 2, where
# vectors of filters would be partly empty, or stored one by one: bench --layout nchw --list resnext50 --filter g32 (the
# other by --row staged). With more channels the sums are longer than the stores.
# columns_few: the same without AVX-512, where blocks of 16 would have a vector of none; of many channels, or with strides,
# copies in nhwc are faster (above). panels_few: without AVX-512 panels of few channels pay from five filters on.
row(cpu  few_filters_s1         packed                columns           f32           nchw       vectors:2,filters:4,rows:7,stage:2   filters_per_group<=4 stride_1 out_w>=14 columns_rows avx512>=1)
row(cpu  columns_few_s1         packed                columns           f32           nchw       vectors:2,filters:4,rows:7,stage:2   filters_spared_8>=8 filters_per_group<=24 stride_1 out_w>=14 columns_rows avx512=0 copied_nhwc=0)
row(cpu  few_filters_s2         packed                columns           f32           nchw       vectors:2,filters:4,rows:7,stage:2   filters_per_group<=4 stride_2 out_w>=14 columns_rows avx512>=1)
row(cpu  columns_few_s2         packed                columns           f32           nchw       vectors:2,filters:4,rows:7,stage:2   filters_spared_8>=8 filters_per_group<=24 stride_2 out_w>=14 columns_rows avx512=0 copied_nhwc=0)
row(cpu  grouped8_s1            packed                columns           f32           nchw       vectors:2,filters:8,rows:7,stage:2   filters_per_group=8 stride_1 out_w>=14 columns_rows copied_nhwc=0)
row(cpu  grouped8_s2            packed                columns           f32           nchw       vectors:2,filters:8,rows:7,stage:2   filters_per_group=8 stride_2 out_w>=14 columns_rows copied_nhwc=0)
row(cpu  grouped16_s1           packed                columns           f32           nchw       vectors:1,filters:16,rows:7,stage:2  filters_per_group=16 stride_1 out_w>=14 columns_rows copied_nhwc=0)
row(cpu  columns_s2             packed                columns           f32           nchw       vectors:1,filters:16,rows:2,stage:2  channels_per_group<=40 filters_per_group>=12 stride_2 out_w>=14 columns_rows copied_nhwc=0)
row(cpu  panels_few             packed_panels         columns           f32           nchw       inner:1,chunk:8,of_task:2048         stride_1 depth<=511 channels_per_group<=12 filters_per_group>=5 groups=1 panels avx512=0)
row(cpu  few_s1                 packed                columns           f32           nchw       vectors:1,filters:16,rows:4,stage:2  channels_per_group<=12 filters_per_group>=16 stride_1 out_w>=28 bounded_copy)
row(cpu  1x1_64                 packed                broadcast         f32           nhwc       block:64/16,tile_x:6/7,chunk:8/4,outer:2/8,stage:0   1x1 filters_per_group%64=0 out_w>=64)
row(cpu  1x1_48                 packed                broadcast         f32           nhwc       block:48/16,tile_x:8/7,chunk:8/4,outer:2/8,stage:0   1x1 filters_spared>=16)
row(cpu  1x1_80                 packed                broadcast         f32           nhwc       block:80/16,tile_x:5/7,chunk:8/4,outer:2/8,stage:0   1x1 filters_per_group%80=0 filled_32<=92)
row(cpu  1x1_32_rows            packed                broadcast         f32           nhwc       block:32/16,tile_y:2/1,chunk:4,outer:4/8,stage:0     1x1 filters_per_group>=17 out_w<=32 out_h>=2)
row(cpu  1x1_32                 packed                broadcast         f32           nhwc       block:32/16,tile_x:10/7,chunk:8/4,outer:4/8,stage:0  1x1 filters_per_group>=17)
row(cpu  1x1_32                 packed                broadcast         f16           nhwc       block:32/16,tile_x:10/7,chunk:8/4,outer:4/8          1x1 filters_per_group>=17)
row(cpu  1x1_32                 packed                broadcast         f32           nchw       block:32,chunk:4,outer:4,stage:0     1x1 full_32 copied_nhwc=0)
row(cpu  1x1_32                 packed                broadcast         f16           nchw       block:32,chunk:4,outer:4             1x1 full_32)
row(cpu  1x1                    packed                broadcast         f32           nhwc       chunk:16/4,outer:8,stage:0           1x1)
row(cpu  1x1                    packed                broadcast         f32           nchw       chunk:4,outer:8,stage:0              1x1 copied_nhwc=0)
row(cpu  1x1                    packed                broadcast         f16           nhwc,nchw  chunk:4,outer:8                      1x1)
row(cpu  1x1                    packed                broadcast         bf16          nhwc       block:32,chunk:4,outer:8,stage:0     1x1 pairs)
row(cpu  1x1                    packed                broadcast         bf16          nchw       block:32,chunk:4,outer:8             1x1)
# Without AVX-512 a block of one vector has all of 8 filters, and of three those that two blocks of 16 would leave a vector of
# empty: bench --list input=1x32x32x320,weight=8x3x3x320,padding=1 --row staged takes 1.2 times as long as staged_8, --list
# input=1x16x16x512,weight=24x3x3x512,padding=1 1.3 times as staged_24, and --list input=1x96x96x8,weight=24x3x3x8,padding=1
# --row windows 1.5 times as windows_24 (Zen 3). patches: what is left of them where taps of a row are channels
# (runtime/src/convolution/fold_taps.h), as rgb_patches below.
# Any other filter. A block of 16 loads 8 values for 7 multiplications, one of 32 by 7 pixels of two rows 9 for 14, of 48 by
# 8 11 for 24: with more than 16 filters, full blocks or not, staged_32 is 1.2 to 2.1 times as fast as tiles of 16 by 4
# (explorer run conv2d input=1x28x28x64,weight=40x5x5x64,padding=2 --row staged), and where blocks of 48 have fewer idle
# filters than those of 32, 1.1 to 1.9 times (conv_training --filter 24x16_144); both on a Xeon of family 6, model 167. _line:
# one row, half of what two would compute (input=1x1x3000x80,weight=384x1x3x80,padding=0x1). _8: of widths that tiles of 7
# would not fill (explorer run conv2d 48x32_96-192_2x2_s2 --row staged_32, on Zen 4: 1.3 times as fast).
# Without AVX-512 tiles are of 4 pixels of a row, of one vector of filters 4 by 2, whose eight sums hide four cycles and waste
# less of small images than 10 or 6 in a row. staged_5, staged_3: of rows that those fill, without the columns past the end:
# bench --list input=1x10x10x512,weight=256x3x3x512,stride=2,padding=1 --row staged_32_large takes 1.8 times as long, --list
# input=1x18x18x64,weight=128x3x3x64,stride=2,padding=1 --row staged_32 1.25 times (Zen 3). line_8, for one row, which 4 by 2
# would waste half of.
row(cpu  windows                packed                broadcast         f32           nhwc       tile_x:4,windows:1,unroll:1           channels_per_group<=12 groups=1 dilation_x=1 bounded_copy avx512=0)
row(cpu  patches                packed                broadcast         f32           nhwc       block:32/16,tile_x:8,outer:8/16      kernel_w=1 stride_y>=8 filters_per_group>=17 bounded_copy)
row(cpu  staged_8               packed                broadcast         f32           nhwc       lanes:8,block:8,tile_x:4,tile_y:2     filters_per_group<=8 bounded_copy avx512=0)
row(cpu  staged_24              packed                broadcast         f32           nhwc       lanes:8,block:24,tile_x:4             filters_spared_24>=8 bounded_copy avx512=0)
row(cpu  staged_5               packed                broadcast         f32           nhwc       block:16,tile_x:5,outer:8             filters_per_group>=9 out_w%5=0 bounded_copy avx512=0)
row(cpu  staged_3               packed                broadcast         f32           nhwc       block:16,tile_x:3,tile_y:2,outer:8    filters_per_group>=9 out_w%3=0 out_h>=2 bounded_copy avx512=0)
row(cpu  staged_48              packed                broadcast         f32           nhwc       block:48/16,tile_x:8                  filters_spared>=16 bounded_copy)
row(cpu  staged_48              packed                broadcast         f32           nchw       block:48/16,tile_x:8                  filters_spared>=16 bounded_copy avx512>=1)
row(cpu  staged_32_line         packed                broadcast         f32,f16       nhwc       block:32/16,tile_x:10/8               filters_per_group>=17 out_h<=1 bounded_copy)
row(cpu  staged_32_line         packed                broadcast         f32           nchw       block:32/16,tile_x:10/8               filters_per_group>=17 out_h<=1 bounded_copy avx512>=1)
row(cpu  staged_32_line         packed                broadcast         f16           nchw       block:32/16,tile_x:10/8               filters_per_group>=17 out_h<=1 bounded_copy)
row(cpu  staged_32_8            packed                broadcast         f32           nhwc       block:32/16,tile_x:8,outer:4/0       filters_per_group>=17 out_w%8=0 filled_7<=95 bounded_copy)
row(cpu  staged_32_large        packed                broadcast         f32,f16       nhwc       block:32/16,tile_y:2/1,outer:2/0     filters_per_group>=17 weight_size>=262144 bounded_copy)
row(cpu  staged_32              packed                broadcast         f32,f16       nhwc       block:32/16,tile_y:2/1               filters_per_group>=17 bounded_copy)
row(cpu  staged_32              packed                broadcast         f32           nchw       block:32,tile_y:2/1,outer:8          filters_per_group>=17 bounded_copy avx512>=1)
row(cpu  staged_32              packed                broadcast         f16           nchw       block:32,tile_y:2/1,outer:8          filters_per_group>=17 bounded_copy)
row(cpu  staged_7               packed                broadcast         f32           nhwc       -                                    filled_7>=80 bounded_copy)
row(cpu  staged                 packed                broadcast         f32,f16       nhwc       tile_x:4                             bounded_copy)
row(cpu  staged                 packed                broadcast         f32           nchw       tile_x:4                             bounded_copy avx512>=1)
row(cpu  staged                 packed                broadcast         f16           nchw       tile_x:4                             bounded_copy)
row(cpu  staged                 packed                broadcast         bf16          nhwc,nchw  block:32                             bounded_copy)
# Patches of a picture (bench --list first_layers --filter p0x0, the other by --row any).
row(cpu  rgb_patches            packed                broadcast         f32           nhwc,nchw  block:32/16,tile_x:8,outer:8/16      channels_per_group=3 stride_x<=64 stride_y<=64 copied_window)
row(cpu  any                    packed                broadcast         f32,f16,bf16  nhwc       stage:0)
row(cpu  any                    packed                broadcast         f16,bf16      nchw       stage:0)

# GPU: a ladder for each kind, from large tiles to none. Filters and input are staged in shared memory a slice of
# channels at a time; the last rung stages nothing and fits every device. Budgets: shared bytes are what was measured,
# registers what ptxas may use, for it spills nothing then: of 256 threads, 64 are four blocks a multiprocessor, 80
# three. products: f32 by multiply-adds, the output's pixels as one line; few takes less time of up to 16 filters.
# Because an application with all rows has to stay small (docs/runtime/linking.md), products, few and depthwise tiles are
# for f32, and what is large or special is for CUDA alone; 3x3 is not there, as products and matrices leave little to it.
# For the same reason matrices have one tile, but of rows.
# matrices: tensor cores. On an H100, ResNet-50 of bf16 at batch 32, 64 filters by 128 pixels are the fastest of seven
# tiles (explorer run conv2d resnet50 --type bf16 --knobs …) for 1x1 filters, as for up to 64 filters; 128 by 64 were for
# others, until 3x3 filters had halos. Tiles whose warps have 64 by 64 sums have fewer instructions and are slower: two
# blocks a multiprocessor, not four. Sums in parts have 128 by 64.
# rows_4_128: 128 by 128, of eight warps of 32 by 64 sums and three stages: as many warps, registers and shared bytes a
# multiprocessor, not measured. By the model the second cache bounds tiles of half as many sums, with which ResNet-50 takes
# 1.08 times as long (counts --list resnet50 --family conv2d --type bf16 --batch 32 --layout nchw, with and without it). Left
# out until a GPU confirms it: that tile of nhwc, 691 us, not 775, and of what is copied, 881 us, not 917.
# matrices_halos: what all taps of a tile meet is staged once a slice (generators/conv2d/halo.h), for rows of up to 80
# pixels. By the model shared memory has 14 % less to do and bounds ResNet-50's 28x28 and 14x14 layers at 0.89 of the
# tensor cores' time, not 0.76 (counts --list resnet50 --family conv2d --type bf16 --batch 32).
# matrices_windows: first layers, and nhwc's channels that are no whole vectors (generators/conv2d/channels_last.h).
# products of nchw read the input as it is; so do rows and rows_4 of 1x1 filters, in vectors of 8 and 4 pixels. rows of f32,
# of 4, which they store so: 119 us for 130 of products by the model (counts --list input=32x28x28x512,weight=256x1x1x512
# --family conv2d --layout nchw, with and without it), 17 for 21 of short sums (input=8x56x56x64,weight=256x1x1x64). For other
# matrices input and filter are copied first, channels next to each other, and the main loop is nhwc's: on an H100, by its model, the copy of the input is bound by memory, 1.9 to 7.7 us of ResNet-50's
# layers at batch 32 (explain conv2d --type bf16 --layout nchw --input 32x64x56x56 --weight 64x64x3x3 --padding 1 --count,
# and the like).
#        row                    algorithm        schedule          types         layouts    knobs                                                              budget                                                         where
row(cuda depthwise3x3_s1_small  depthwise_tiles  tile_of_groups    f32           nhwc       tile_x:8,each_y:2                                                  shared:13952,registers:64,conflicts:1.2,sectors:1.0            short depthwise 3x3 stride_1 out_w<=8)
row(cuda depthwise3x3_s1        depthwise_tiles  tile_of_groups    f32           nhwc,nchw  -                                                                  shared:24192,registers:80,conflicts:1.15,sectors:1.3           short depthwise 3x3 stride_1)
row(cuda depthwise3x3_s2        depthwise_tiles  tile_of_groups    f32           nhwc,nchw  -                                                                  shared:38144,registers:80,conflicts:1.55,sectors:1.2           short depthwise 3x3 stride_2)
row(cuda depthwise5x5_s1_small  depthwise_tiles  tile_of_groups    f32           nhwc       tile_x:8,each_y:2                                                  shared:21632,registers:104,conflicts:1.7,sectors:1.0           short depthwise 5x5 stride_1 out_w<=8)
row(cuda depthwise5x5_s1        depthwise_tiles  tile_of_groups    f32           nhwc,nchw  -                                                                  shared:33920,registers:128,conflicts:1.55,sectors:1.7          short depthwise 5x5 stride_1)
row(cuda depthwise5x5_s2        depthwise_tiles  tile_of_groups    f32           nhwc,nchw  -                                                                  shared:29952,registers:128,conflicts:1.85,sectors:1.3          short depthwise 5x5 stride_2)
row(cuda depthwise7x7_s1        depthwise_tiles  tile_of_groups    f32           nhwc,nchw  -                                                                  shared:45696,registers:72,conflicts:1.45,sectors:1.7           short depthwise 7x7 stride_1)
row(gpu  depthwise              depthwise        thread_per_group  f32,f16,bf16  nhwc,nchw  -                                                                  shared:0,registers:40,sectors:2.9                              short depthwise)
row(cuda matrices_parts         products_in_parts matrices         f16,bf16      nhwc       -                                                                  shared:49152,registers:136,conflicts:1.0,sectors:1.0             line_of_vectors few_steps few_tiles)
row(cuda matrices_parts         products_in_parts matrices         f32           nhwc       -                                                                  shared:49152,registers:136,conflicts:1.0,sectors:1.0,fma:0.15    line_of_vectors few_tf32_steps few_tiles)
row(cuda matrices_1x1           products         matrices          f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.4   line_of_vectors few_steps 1x1 out_h<=1)
row(cuda matrices_halos         products_of_halos matrices        f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:61440,registers:168,conflicts:1.0,sectors:1.2,fma:0.24  line_of_vectors few_steps 3x3 stride_1 halo_spared>=0)
row(cuda matrices               products         matrices          f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.2,fma:0.35  line_of_vectors few_steps)
row(cuda matrices_1x1           products         matrices          f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.0,fma:0.35    line_of_vectors few_tf32_steps 1x1 out_h<=1)
row(cuda matrices               products         matrices          f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.0,fma:0.35  line_of_vectors few_tf32_steps)
row(cuda matrices_parts         products_in_parts matrices         f16,bf16      nchw       -                                                                shared:49152,registers:136,conflicts:1.0,sectors:2.35,fma:0.4   copied_vectors few_steps few_tiles)
row(cuda rows_4_128             products_of_rows matrices          f16,bf16      nchw       tile_k:128,warps_k:2,tile_x:128,warps_x:4,vector:4,stages:3        shared:49152,registers:128,conflicts:1.0,sectors:1.5,fma:0.35    copied_vectors few_steps 1x1 rows_of_half_vectors square_tiles)
row(cuda rows                   products_of_rows matrices          f16,bf16      nchw       tile_k:64,warps_k:1,tile_x:128,warps_x:4                           shared:49152,registers:144,conflicts:1.0,sectors:1.9,fma:0.45   copied_vectors few_steps 1x1 rows_of_vectors)
row(cuda rows_4                 products_of_rows matrices          f16,bf16      nchw       tile_k:64,warps_k:1,tile_x:128,warps_x:4,vector:4                  shared:49152,registers:160,conflicts:1.0,sectors:2.1,fma:0.25  copied_vectors few_steps 1x1 rows_of_half_vectors)
row(cuda matrices_halos         products_of_halos matrices        f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:61440,registers:168,conflicts:1.0,sectors:1.75,fma:0.25 copied_vectors few_steps 3x3 stride_1 halo_spared>=0)
row(cuda matrices               products_apart   matrices          f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.75,fma:0.35   copied_vectors few_steps)
row(cuda matrices               products_apart   matrices          f32           nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:1.6,fma:0.2   copied_vectors few_tf32_steps)
row(cuda matrices_windows       products_of_windows matrices      f16,bf16      nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:2.45,fma:0.45  windows_to_vectors few_window_steps)
row(cuda matrices_windows       products_of_windows matrices      f16,bf16      nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.4,fma:0.45  windows_to_rows few_window_steps)
row(cuda matrices_windows       products_of_windows matrices      f32           nhwc       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:136,conflicts:1.0,sectors:2.45,fma:0.45  windows_to_vectors few_tf32_window_steps)
row(cuda matrices_windows       products_of_windows matrices      f32           nchw       tile_k:64,warps_k:2,tile_x:128,warps_x:2                           shared:49152,registers:128,conflicts:1.0,sectors:1.4,fma:0.45  windows_to_rows few_tf32_window_steps)
row(cuda products_parts         products_in_parts outer_products   f32           nhwc       tile_k:128,tile_x:64,threads_k:16,threads_x:8                      shared:43008,registers:128,conflicts:1.1,sectors:1.0,fma:0.9   line_of_vectors short few_tiles filters_per_group>=48)
row(cuda products               products         outer_products    f32           nhwc       -                                                                  shared:39936,registers:128,conflicts:1.1,sectors:1.0,fma:0.9   line_of_vectors short filters_per_group>=24)
row(cuda products_windows       products_of_windows outer_products f32           nhwc       -                                                                  shared:39936,registers:128,conflicts:1.1,sectors:1.75,fma:0.9  windows_to_vectors short filters_per_group>=24)
row(cuda products_parts         products_in_parts outer_products   f32           nchw       tile_k:128,tile_x:64,threads_k:16,threads_x:8                      shared:36864,registers:128,conflicts:1.1,sectors:1.7,fma:0.9   copied_vectors short few_tiles filters_per_group>=48)
row(cuda rows                   products_of_rows  outer_products   f32           nchw       -                                                                  shared:36864,registers:136,conflicts:1.0,sectors:1.05,fma:0.9   copied_vectors short 1x1 stride_1 image_alignment>=16 out_w%4=0 filters_per_group>=17)
row(cuda products               products_apart    outer_products   f32           nchw       -                                                                  shared:36864,registers:128,conflicts:1.1,sectors:1.2,fma:0.9   copied_vectors short filters_per_group>=17)
row(cuda products_windows       products_of_windows outer_products f32           nchw       -                                                                  shared:43008,registers:128,conflicts:1.1,sectors:1.75,fma:0.9  windows_to_rows short filters_per_group>=24)
row(gpu  1x1                    sliced           staged            f32,f16,bf16  nhwc       -                                                                  shared:4224,registers:64,conflicts:1.0,sectors:1.75,fma:0.6    short 1x1)
row(opencl 1x1                  sliced           staged            f32,f16,bf16  nchw       -                                                                  shared:4224,registers:64                                       short 1x1)
row(gpu  few                    sliced           staged            f32           nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:8832,registers:80,conflicts:1.45,sectors:2.4,fma:0.45   short filters_per_group<=16)
row(opencl 3x3                  sliced           staged            f32,f16,bf16  nhwc,nchw  -                                                                  shared:22784,registers:64                                      short 3x3 stride_1)
row(opencl 3x3_small            sliced           staged            f32           nhwc,nchw  tile_c:4                                                           shared:11392,registers:80                                     short 3x3 stride_1)
row(gpu  any                    sliced           staged            f32           nhwc       -                                                                  shared:4224,registers:88,conflicts:1.0,sectors:2.0,fma:0.55    short)
row(gpu  any                    sliced           staged            f16,bf16      nhwc       -                                                                  shared:4224,registers:88,conflicts:1.0,sectors:2.95,fma:0.55   short)
row(gpu  any                    sliced           staged            f32,f16,bf16  nchw       -                                                                  shared:4224,registers:64,conflicts:1.5,sectors:3.7,fma:0.5    short)
row(gpu  unstaged               sliced_blocks    unstaged          f32,f16,bf16  nhwc,nchw  -                                                                  shared:0,registers:72,sectors:5.7)
