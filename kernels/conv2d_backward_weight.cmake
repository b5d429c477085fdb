# The gradient of a convolution's filter.
kernel_family(conv2d_backward_weight LIBRARY conv2d_backward FIELDS convolution/fields.def)
include(kernels/terms/convolution.cmake)

term(one_tile out_pixels<=256 batch<=1)  # one image, all pixels one tile
# Of nchw: what is transposed at once, and a step of vectors of columns, whose rows' copies have 16 zeros on each side.
term(four_columns width>=4 out_w>=4)
# Planes of a vector of pixels or more, of which the transposed ones of 16 groups are in a cache.
term(planes line=1 pixels>=16 pixels<=4096 out_pixels>=16 out_pixels<=1024)
term(whole_vectors width>=16 out_w>=8 out_h>=4 padding<=16)
term(packed_panels channels_per_group%16=0 filters_per_group>=24 avx512=0)
term(lines 1x1 stride_1 line=1 out_h<=1 out_w>=16)  # planes of pixels next to each other
# Parts of the sum are kept in global memory: at most 16 MB, for rows of 64, 16 and 8 parts end at 2^16, 2^18 and 2^19
# elements of the filter, of which more are blocks enough without.
term(parts_64 weight_size<=65536)
term(parts_16 weight_size<=262144)
term(parts_8  weight_size<=524288)

# CPU. Gradients of images in nchw that no row of nchw takes are computed of copies in nhwc.
# Depthwise: 3x3 and 5x5 of f32 read the input as it is, others a copy. With the width known (w7, w14): bench --family
# conv2d_backward_weight --list mobilenetv2 --filter 14x14_384-384_3x3 --row depthwise3x3_s1_32 takes 1.14 times as long,
# --filter 28x28_192-192_3x3 --row depthwise3x3_s1_masked 1.05 times as long as _32. bench --family conv2d_backward_weight
# --list input=1x56x56x48,weight=48x3x3x1,padding=1,groups=48 --row depthwise3x3_s1_masked takes 1.3 times as long as _16, and
# by the row of copies, which is left with rows of more than 1024 pixels, --row depthwise3x3_s1 1.57 times (all on Zen 4).
#        row                    algorithm  schedule        types  layouts  knobs                 where
row(cpu  depthwise3x3_s1_w7     peeled     peeled          f32    nhwc     step:3,rows:0         depthwise 3x3 same_7 groups>=17)
row(cpu  depthwise3x3_s1_w14    peeled     peeled          f32    nhwc     step:3                depthwise 3x3 same_14 groups>=17)
row(cpu  depthwise3x3_s2_w14    peeled     peeled          f32    nhwc     step:3                depthwise 3x3 half_14 groups>=17)
row(cpu  depthwise3x3_s1_32     peeled     peeled          f32    nhwc     tail:0                depthwise 3x3 stride_1 groups%32=0 out_w<=1024)
row(cpu  depthwise3x3_s1_16     peeled     peeled          f32    nhwc     g:16,tail:0           depthwise 3x3 stride_1 groups%16=0 groups<=48 out_w<=1024)
row(cpu  depthwise3x3_s1_masked peeled     peeled          f32    nhwc     -                     depthwise 3x3 stride_1 out_w<=1024)
row(cpu  depthwise3x3_s2_32     peeled     peeled          f32    nhwc     tail:0,step:2/1       depthwise 3x3 stride_2 groups%32=0 out_w<=1024)
row(cpu  depthwise3x3_s2_16     peeled     peeled          f32    nhwc     g:16,tail:0,step:2/1  depthwise 3x3 stride_2 groups%16=0 groups<=48 out_w<=1024)
row(cpu  depthwise3x3_s2_masked peeled     peeled          f32    nhwc     step:2/1              depthwise 3x3 stride_2 out_w<=1024)
row(cpu  depthwise5x5_s1_masked peeled     peeled          f32    nhwc     g:16                  depthwise 5x5 stride_1 out_w<=1024)
row(cpu  depthwise5x5_s2_masked peeled     peeled          f32    nhwc     g:16                  depthwise 5x5 stride_2 out_w<=1024)

# nchw: vectors of columns where rows are long (planes, wide), read by masks of CPUs that have them, others transpose planes
# or copy rows. Small planes are transposed whole, then summed as nhwc is; of what is left tiles of four columns. To know the
# width as well gains too little for rows of its own. Planes are transposed faster up to 12 columns: --row
# depthwise3x3_s1_planes takes 2 times as long at 7x7, 1.1 times at 12x12, and at 28x28 _small 1.3 times; wide is faster than
# the rows after it, which --row ROW names (bench --family conv2d_backward_weight --layout nchw --list depthwise).
#        row                    algorithm  schedule           types         layouts  knobs     where
row(cpu  depthwise3x3_s1_small  peeled     peeled             f32           nchw     -         depthwise 3x3 stride_1 planes out_w<=12)
row(cpu  depthwise3x3_s2_small  peeled     peeled             f32           nchw     -         depthwise 3x3 stride_2 planes out_w<=12)
row(cpu  depthwise3x3_s1_planes columns    columns_or_planes  f32           nchw     -         depthwise 3x3 stride_1 planes)
row(cpu  depthwise3x3_s2_planes columns    columns_or_planes  f32           nchw     -         depthwise 3x3 stride_2 planes)
row(cpu  depthwise5x5_s1_planes peeled     peeled             f32           nchw     -         depthwise 5x5 stride_1 planes)
row(cpu  depthwise5x5_s2_planes peeled     peeled             f32           nchw     -         depthwise 5x5 stride_2 planes)
row(cpu  depthwise3x3_s1_wide   columns    columns_or_copies  f32,f16,bf16  nchw     -         depthwise 3x3 stride_1 out_w>=32 whole_vectors)
row(cpu  depthwise3x3_s2_wide   columns    columns_or_copies  f32,f16,bf16  nchw     -         depthwise 3x3 stride_2 out_w>=32 whole_vectors)
row(cpu  depthwise3x3_s1        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 3x3 stride_1 four_columns)
row(cpu  depthwise3x3_s2        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 3x3 stride_2 four_columns)
row(cpu  depthwise5x5_s1        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 5x5 stride_1 four_columns)
row(cpu  depthwise5x5_s2        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 5x5 stride_2 four_columns)
row(cpu  depthwise7x7_s1        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 7x7 stride_1 four_columns)
row(cpu  depthwise7x7_s2        tiles      register_tiles     f32,f16,bf16  nchw     -         depthwise 7x7 stride_2 four_columns)
row(cpu  depthwise              tiles      register_tiles     f32,f16,bf16  nchw     step:4    depthwise four_columns)
row(cpu  depthwise3x3_s1       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 3x3 stride_1)
row(cpu  depthwise3x3_s2       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 3x3 stride_2)
row(cpu  depthwise5x5_s1       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 5x5 stride_1)
row(cpu  depthwise5x5_s2       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 5x5 stride_2)
row(cpu  depthwise7x7_s1       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 7x7 stride_1)
row(cpu  depthwise7x7_s2       tiles      register_tiles  f32,f16,bf16  nhwc     -                  depthwise 7x7 stride_2)
row(cpu  depthwise             tiles      register_tiles  f32,f16,bf16  nhwc     step:4             depthwise)

# nchw, 1x1: what has fewer channels is transposed: up to 3 times as fast as copies in nhwc (bench --list mobilenetv2 --layout
# nchw --family conv2d_backward_weight --filter 1x1, and with --row 1x1_32 and such). Where all pixels are one tile (small)
# its sums are written at once, 7x7_512-2048_1x1 --row lines_32 takes 1.2 times as long. of_filters: 112x112_32-16_1x1 --row
# lines_32 takes 1.14 times as long, resnet50 56x56_256-64_1x1 1.11 times. Of 32 fewer loads are for a multiply-add.
#        row                   algorithm  schedule  types  layouts  knobs                                  where
row(cpu  lines_32_small        planes     panels    f32    nchw     whole:1,block_v:512,block_u:4096       lines channels_per_group%32=0 filters_per_group%8=0 one_tile)
row(cpu  lines_small           planes     panels    f32    nchw     v:16,whole:1,block_v:512,block_u:4096  lines channels_per_group%16=0 filters_per_group%8=0 one_tile)
row(cpu  lines_of_filters_32   planes     panels    f32    nchw     filters:1                              lines channels_per_group%8=0 filters_per_group%32=0 channels_above_filters>=1)
row(cpu  lines_of_filters_16   planes     panels    f32    nchw     filters:1,v:16                         lines channels_per_group%8=0 filters_per_group%16=0 channels_above_filters>=1)
row(cpu  lines_32              planes     panels    f32    nchw     -                                      lines channels_per_group%32=0 filters_per_group%8=0)
row(cpu  lines                 planes     panels    f32    nchw     v:16                                   lines channels_per_group%16=0 filters_per_group%8=0)
row(cpu  lines_of_filters      planes     panels    f32    nchw     filters:1,v:16                         lines channels_per_group%8=0 filters_per_group%16=0)

# packed: CPUs without AVX-512, others were not measured with it; weight_packed.cpp has its figures. With fewer than 96
# pixels its sums take as long as their products: explorer run conv2d_backward_weight 7x7_2048-512_1x1 --row packed 0.85 of
# the speed of 1x1_32_copied (Zen 3).
# Sums of 16 channels and filters, or of 32 and 8, which divide the problem's; the input of 1x1 is read where it is.
# Those of 32 are 1.05 to 1.35 times as fast on a Xeon of family 6, model 167 (explorer run conv2d_backward_weight
# resnet50 --row 1x1_32_small --knobs direct:1,inside:1,stage:0,c:16,k:16,whole:1,block_c:1024,block_k:64); on Zen 4
# they are the same, and there no gradient is copied. On that Xeon copying it (stage:2, of 1x1 stage:3) is 1.05 to 1.3
# times as fast: 7x7_512-2048_1x1 --row 1x1_32_small --knobs
# direct:2,inside:1,stage:3,c:32,k:8,whole:1,block_c:1024,block_k:64. With fewer than 256 channels it takes as long as
# it saves. Four pixels in a step of 1x1_32 are 1.05 times as fast as one (explorer run conv2d_backward_weight
# 28x28_128-512_1x1 --row 1x1_32 --knobs direct:2,inside:1,stage:0,pixels:128,block_c:256,block_k:256,c:32,k:8). Where
# all pixels are one tile (small, copied) its sums are written at once. Beside the peers, against `any` (bench --family
# conv2d_backward_weight --list resnet50): 1x1 at 7x7 1.5 times as fast (105 GFLOP/s), at 14x14 1.15, at 56x56 1.1 to
# 1.2 times; 3x3 at 7x7 1.6, at 14x14 1.2 times; 16 and 32 channels a group (--list resnext50) 1.05 to 1.25 times their
# rows below.
#        row                  algorithm  schedule        types         layouts    knobs                                                                            where
row(cpu  packed_whole         panels     packed          f32           nhwc       whole:1                                                                          packed_panels one_tile out_pixels>=96 channels_per_group>=32)
row(cpu  1x1_32_copied        tiles      register_tiles  f32           nhwc       direct:2,inside:1,stage:3,c:32,k:8,whole:1,block_c:1024,block_k:64               1x1 stride_1 channels_per_group%32=0 filters_per_group%16=0 one_tile channels_per_group>=256)
row(cpu  1x1_32_small         tiles      register_tiles  f32           nhwc       direct:2,inside:1,stage:0,c:32,k:8,whole:1,block_c:1024,block_k:64               1x1 stride_1 channels_per_group%32=0 filters_per_group%16=0 one_tile)
row(cpu  1x1_small            tiles      register_tiles  f32           nhwc       direct:1,inside:1,stage:0,c:16,k:16,whole:1,block_c:1024,block_k:64              1x1 stride_1 channels_per_group%16=0 filters_per_group%16=0 one_tile)
row(cpu  grouped16_3x3_small  tiles      register_tiles  f32           nhwc       direct:1,stage:1,c:16,k:8,s:3,whole:1,block_c:16,block_k:16,block_g:4            grouped16 3x3 one_tile)
row(cpu  direct_32_small      tiles      register_tiles  f32           nhwc       direct:2,stage:2,c:32,k:8,whole:1,block_c:128,block_k:128,block_g:4               channels_per_group%32=0 filters_per_group%16=0 one_tile)
row(cpu  direct_small         tiles      register_tiles  f32           nhwc       direct:1,stage:1,c:16,k:16,whole:1,block_c:128,block_k:128,block_g:4             channels_per_group%16=0 filters_per_group%16=0 one_tile)
row(cpu  packed_1x1           panels     packed          f32           nhwc       stage:1                                                                          packed_panels 1x1 stride_1 channels_per_group<=96)
row(cpu  packed               panels     packed          f32           nhwc       -                                                                                packed_panels channels_per_group>=32)
row(cpu  1x1_32               tiles      register_tiles  f32           nhwc       direct:2,inside:1,stage:0,pixels:128,block_c:256,block_k:256,c:32,k:8,step:4     1x1 stride_1 channels_per_group%32=0 filters_per_group%16=0 out_w%4=0)
row(cpu  1x1                  tiles      register_tiles  f32           nhwc       direct:1,inside:1,stage:0,pixels:128,block_c:256,block_k:256,c:16,k:16           1x1 stride_1 channels_per_group%16=0 filters_per_group%16=0)
row(cpu  1x1_filters8         tiles      register_tiles  f32           nhwc       direct:1,inside:1,stage:0,pixels:128,block_c:256,block_k:256,c:16,k:8            1x1 stride_1 channels_per_group%16=0 filters_per_group%8=0)
row(cpu  1x1_channels8        tiles      register_tiles  f32           nhwc       direct:1,inside:1,stage:0,pixels:128,block_c:256,block_k:256,filters:1,c:8,k:16  1x1 stride_1 channels_per_group%8=0 filters_per_group%16=0)
# Few channels a group: vectors across groups (4, and 8 by pairs of groups), or sizes known to the compiler (8, 16, 32).
# Against the rows after them: grouped16_3x3_small 1.3 times as fast (explorer run conv2d_backward_weight
# 14x14_512-512_3x3_g32 --row direct_small), grouped8_3x3_pairs 1.2 (28x28_256-256_3x3_g32 --row grouped8_3x3).
row(cpu  grouped4_3x3         tiles      register_tiles  f32,f16,bf16  nhwc       -                                                                                channels_per_group=4 filters_per_group=4 3x3)
row(cpu  grouped8_3x3_pairs   tiles      register_tiles  f32           nhwc       direct:1,stage:2,c:8,g:2,k:8,s:3,block_c:8,block_k:8,block_g:4,pixels:256        grouped8 3x3 groups%2=0)
row(cpu  grouped8_3x3         tiles      register_tiles  f32,f16,bf16  nhwc       -                                                                                grouped8 3x3)
row(cpu  grouped16_3x3        tiles      register_tiles  f32           nhwc       direct:1,stage:2,c:16,k:8,s:3,block_c:16,block_k:16,block_g:4,pixels:256         grouped16 3x3)
row(cpu  grouped16_3x3        tiles      register_tiles  f16,bf16      nhwc       -                                                                                grouped16 3x3)
row(cpu  grouped32_3x3        tiles      register_tiles  f32,f16,bf16  nhwc       -                                                                                grouped32 3x3)
row(cpu  few                  tiles      register_tiles  f32,f16,bf16  nhwc       c:1,g:16,k:2,s:1,step:4                                                          channels_per_group<=8 filters_per_group<=8 groups>=16)
# rgb: the first layer; vectors are of filters. rgb3x3_16: of 16 filters explorer run conv2d_backward_weight
# input=1x112x112x3,weight=16x3x3x3,stride=2,padding=1 --knobs
# filters:1,c:3,k:32,s:3,block_k:32,block_c:3,pixels:512,stage:1 0.16 of the speed, of 48 (weight=48x3x3x3) 0.38.
# narrow: blocks of 32 channels would be half empty. one_channel, few_channels_6, _4, _3, _2: sums of tiles that channels and
# filters fill, bench --family conv2d_backward_weight --list small_images 3 to 5 times as fast as few_channels and any on
# Zen 3; a tile that is part empty takes longer than those rows. packed_any, packed_8: without AVX-512 any number of channels
# and filters, in panels of 16 channels or of 8, which leave fewer lanes empty: bench --family conv2d_backward_weight --list
# input=1x112x112x24,weight=8x1x3x24,padding=0x1 --row any takes 1.6 times as long, input=4x40x40x320,weight=6x1x1x320 2.6
# times (Zen 3). joined_windows=0: other filters of few channels are left to what a window's row meets as the channels of one tap
# (runtime/src/conv2d_backward/joined_windows.h), of which these rows are then asked again.
row(cpu  one_channel3x3       tiles      register_tiles  f32           nhwc       filters:1,c:1,k:16,s:3,block_k:16,pixels:512,stage:1                             channels_per_group=1 groups=1 3x3 filters_per_group%16=0)
row(cpu  one_channel5x5       tiles      register_tiles  f32           nhwc       filters:1,c:1,k:16,s:5,block_k:16,pixels:512,stage:1                             channels_per_group=1 groups=1 5x5 filters_per_group%16=0)
row(cpu  one_channel7x7       tiles      register_tiles  f32           nhwc       filters:1,c:1,k:16,s:7,block_k:16,pixels:512,stage:1                             channels_per_group=1 groups=1 7x7 filters_per_group%16=0)
row(cpu  rgb7x7               tiles      register_tiles  f32,f16,bf16  nhwc       filters:1,c:1,k:64,s:7,block_k:64,stage:1                                        channels_per_group=3 7x7)
row(cpu  rgb3x3               tiles      register_tiles  f32,f16,bf16  nhwc       filters:1,c:3,k:32,s:3,block_k:32,block_c:3,pixels:512,stage:1                   channels_per_group=3 3x3 filters_per_group%32=0)
row(cpu  rgb3x3_16            tiles      register_tiles  f32,f16,bf16  nhwc       filters:1,c:3,k:16,s:3,block_k:16,block_c:3,pixels:512,stage:1                   channels_per_group=3 3x3)
row(cpu  few_channels_6       tiles      register_tiles  f32           nhwc       filters:1,c:6,k:16,s:1,block_k:16,block_c:6,pixels:512,stage:1                   channels_per_group<=12 channels_per_group%6=0 groups=1 filters_per_group%16=0)
row(cpu  few_channels_3       tiles      register_tiles  f32           nhwc       filters:1,c:3,k:16,s:1,block_k:16,block_c:3,pixels:512,stage:1                   channels_per_group<=9 channels_per_group%3=0 groups=1 filters_per_group%16=0 avx512=0)
row(cpu  few_channels_4       tiles      register_tiles  f32           nhwc       filters:1,c:4,k:16,s:1,block_k:16,block_c:4,pixels:512,stage:1                   channels_per_group<=8 channels_per_group%4=0 groups=1 filters_per_group%16=0)
row(cpu  few_channels_2       tiles      register_tiles  f32           nhwc       filters:1,c:2,k:32,s:1,block_k:32,block_c:2,pixels:512,stage:1                   channels_per_group<=10 channels_per_group%2=0 groups=1 filters_per_group%32=0)
row(cpu  packed_8             panels     packed          f32           nhwc       c:8,k:8                                                                          groups=1 channels_spared_8>=8 channels_per_group<=56 joined_windows=0 avx512=0)
row(cpu  packed_any           panels     packed          f32           nhwc       pixels:512                                                                       groups=1 channels_per_group>=9 joined_windows=0 avx512=0)
row(cpu  few_channels         tiles      register_tiles  f32,f16,bf16  nhwc       filters:1,c:1,k:64,s:1,block_k:64                                                channels_per_group<=8 filters_per_group>=16 joined_windows=0)
row(cpu  direct_32            tiles      register_tiles  f32           nhwc       direct:2,stage:2,c:32,k:8,pixels:256,block_c:128,block_k:64                      channels_per_group%32=0 filters_per_group%16=0)
row(cpu  direct               tiles      register_tiles  f32           nhwc       direct:1,stage:1,c:16,k:16,pixels:256,block_c:128,block_k:64                     channels_per_group%16=0 filters_per_group%16=0)
row(cpu  narrow               tiles      register_tiles  f32           nhwc       filters:1,c:8,k:32,s:1                                                           channels_per_group<=24 filters_per_group>=32 joined_windows=0)
row(cpu  any                  tiles      register_tiles  f32,f16,bf16  nhwc       -                                                                                joined_windows=0)

# GPU. matrices: tensor cores, by tiles of k and of elements of a filter, e. Of nchw both images are copied first,
# channels next to each other; planes read the output's gradient as it is, in vectors of 4 pixels, and rows, rows_4 and
# products_1x1, of 1x1 filters, both, where no word has a tap to find. warps_x: tiles of 64 by 128, where sums in memory
# take longest (schedules/conv2d_backward/gpu/weight_matrices.cpp).
#        row              algorithm                    schedule types     layouts knobs                                           budget                                                         where
row(cuda matrices_32      products_in_parts            matrices f16,bf16  nhwc    tile_k:32,warps_k:1                             shared:40960,registers:168,conflicts:1.0,sectors:1.0           line_of_vectors filters_per_group<=32)
row(cuda matrices_1x1     products_in_parts            matrices f16,bf16  nhwc    tile_k:128,tile_e:128                           shared:65536,registers:232,conflicts:1.0,sectors:1.1,fma:0.45  line_of_vectors 1x1 stride_1 batch<=1 out_h<=1)
row(cuda matrices_64      products_in_parts            matrices f16,bf16  nhwc    tile_k:64,warps_k:1                             shared:49152,registers:232,conflicts:1.0,sectors:1.2,fma:0.35  line_of_vectors filters_per_group<=64)
row(cuda matrices         products_in_parts            matrices f16,bf16  nhwc    tile_k:128,tile_e:128                           shared:65536,registers:232,conflicts:1.0,sectors:1.05          line_of_vectors)
row(cuda rows             products_of_rows_in_parts    matrices f16,bf16  nchw    tile_k:64,warps_k:1,warps_x:2,stages:3          shared:76800,registers:232,conflicts:1.0,sectors:1.1,fma:0.6   copied_vectors 1x1 rows_of_vectors)
row(cuda rows_4           products_of_rows_in_parts    matrices f16,bf16  nchw    tile_k:128,tile_e:128,vector:4                  shared:65536,registers:232,conflicts:1.0,sectors:1.25          copied_vectors 1x1 rows_of_half_vectors)
row(cuda matrices_32      products_in_parts            matrices f16,bf16  nchw    tile_k:32,warps_k:1                             shared:40960,registers:168,conflicts:1.0,sectors:2.25,fma:0.4  copied_vectors filters_per_group<=32)
row(cuda matrices_1x1     products_in_parts            matrices f16,bf16  nchw    tile_k:128,tile_e:128                           shared:65536,registers:232,conflicts:1.0,sectors:1.2           copied_vectors 1x1 stride_1)
row(cuda planes_64        products_in_parts            matrices f16,bf16  nchw    tile_k:64,warps_k:1,vector:4                    shared:49152,registers:232,conflicts:1.0,sectors:1.65,fma:0.3  copied_vectors gradient_planes filters_per_group<=64)
row(cuda planes           products_in_parts            matrices f16,bf16  nchw    tile_k:128,tile_e:128,vector:4                  shared:65536,registers:232,conflicts:1.0,sectors:1.75          copied_vectors gradient_planes)
row(cuda matrices_64      products_in_parts            matrices f16,bf16  nchw    tile_k:64,warps_k:1                             shared:49152,registers:232,conflicts:1.0,sectors:1.15,fma:0.35 copied_vectors filters_per_group<=64)
row(cuda matrices         products_in_parts            matrices f16,bf16  nchw    tile_k:128,tile_e:128                           shared:65536,registers:232,conflicts:1.0,sectors:1.55          copied_vectors)
row(cuda matrices_windows products_of_windows_in_parts matrices f16,bf16  nhwc    tile_k:64,warps_k:1,warps_x:2,stages:3          shared:76800,registers:232,conflicts:1.0,sectors:2.05,fma:0.55 windows_to_vectors)
row(cuda planes_windows   products_of_windows_in_parts matrices f16,bf16  nchw    tile_k:64,warps_k:1,warps_x:2,stages:3,vector:4 shared:76800,registers:232,conflicts:1.0,sectors:1.55,fma:0.35 windows_to_rows gradient_planes)
row(cuda matrices_windows products_of_windows_in_parts matrices f16,bf16  nchw    tile_k:64,warps_k:1,warps_x:2,stages:3          shared:76800,registers:232,conflicts:1.0,sectors:1.4,fma:0.25  windows_to_rows)

# f32 whose products may be of operands cut off to TF32: slices are twice as large.
#        row              algorithm                    schedule types     layouts knobs                                           budget                                                         where
row(cuda matrices_32      products_in_parts            matrices f32       nhwc    tile_k:32,warps_k:1,stages:3                    shared:61440,registers:168,conflicts:1.0,sectors:1.0,fma:0.35  line_of_vectors tf32=1 filters_per_group<=32)
row(cuda matrices_1x1     products_in_parts            matrices f32       nhwc    tile_k:128,tile_e:128,stages:2                  shared:65536,registers:255,conflicts:1.0,sectors:1.1,fma:0.35  line_of_vectors tf32=1 1x1 stride_1 batch<=1 out_h<=1)
row(cuda matrices_64      products_in_parts            matrices f32       nhwc    tile_k:64,stages:3                              shared:73728,registers:168,conflicts:1.0,sectors:1.25,fma:0.2  line_of_vectors tf32=1 filters_per_group<=64)
row(cuda matrices         products_in_parts            matrices f32       nhwc    tile_k:128,tile_e:128,stages:2                  shared:65536,registers:255,conflicts:1.0,sectors:1.05          line_of_vectors tf32=1)
row(cuda matrices_windows products_of_windows_in_parts matrices f32       nhwc    tile_k:64,tile_e:128,warps_k:1,warps_e:4,stages:2 shared:49152,registers:168,conflicts:1.0,sectors:2.0           windows_to_vectors tf32=1)
row(cuda products_64      products_in_parts            outer_products f32 nhwc    tile_k:64,tile_e:64,threads_k:8,threads_e:8      shared:32768,registers:144,conflicts:1.0,sectors:1.0,fma:0.85  line_of_vectors 1x1 stride_1 batch<=1 out_h<=1 filters_per_group>=48 channels_per_group<=64)
row(cuda products         products_in_parts            outer_products f32 nhwc    tile_k:64,tile_e:128                            shared:49152,registers:144,conflicts:1.0,sectors:1.05,fma:0.85 line_of_vectors filters_per_group>=48)
row(cuda products_1x1_64  products_of_rows_in_parts    outer_products f32 nchw    tile_k:64,tile_e:64,threads_k:8,threads_e:8      shared:36864,registers:144,conflicts:1.0,sectors:1.1,fma:0.85  copied_vectors 1x1 filters_per_group>=48 channels_per_group<=64)
row(cuda products_1x1     products_of_rows_in_parts    outer_products f32 nchw    tile_k:64,tile_e:128                            shared:55296,registers:144,conflicts:1.0,sectors:1.1,fma:0.85  copied_vectors 1x1 filters_per_group>=48)
row(cuda products         products_in_parts            outer_products f32 nchw    tile_k:64,tile_e:128                            shared:49152,registers:144,conflicts:1.0,sectors:1.55,fma:0.85 copied_vectors filters_per_group>=48)
row(cuda products_windows products_of_windows_in_parts outer_products f32 nhwc    tile_k:64,tile_e:128                            shared:49152,registers:144,conflicts:1.0,sectors:1.55,fma:0.85 windows_to_vectors filters_per_group>=24)
row(cuda products_windows products_of_windows_in_parts outer_products f32 nchw    tile_k:64,tile_e:128                            shared:49152,registers:144,conflicts:1.0,sectors:1.55,fma:0.85 windows_to_rows filters_per_group>=24)

# Depthwise: a thread has the sums of all taps of two groups, of a row. Of nchw groups become neighbours in shared memory.
#        row              algorithm          schedule          types         layouts knobs   budget                                                 where
row(cuda depthwise3x3_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nhwc    -       shared:12800,registers:120,conflicts:1.0,sectors:1.15,fma:0.2  image_alignment>=16 groups%8=0 depthwise 3x3 stride_1)
row(cuda depthwise3x3_s2  depthwise_row_sums taps_in_registers f32,f16,bf16  nhwc    rows:4  shared:19584,registers:160,conflicts:1.0,sectors:1.05          image_alignment>=16 groups%8=0 depthwise 3x3 stride_2)
row(cuda depthwise5x5_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nhwc    -       shared:25600,registers:168,conflicts:1.0,sectors:2.7,fma:0.35  image_alignment>=16 groups%8=0 depthwise 5x5 stride_1)
row(cuda depthwise5x5_s2  depthwise_row_sums taps_in_registers f32,f16,bf16  nhwc    rows:4  shared:26752,registers:200,conflicts:1.0,sectors:1.75,fma:0.2  image_alignment>=16 groups%8=0 depthwise 5x5 stride_2)
row(cuda depthwise7x7_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nhwc    rows:4  shared:25088,registers:224,conflicts:1.0,sectors:2.3,fma:0.45  image_alignment>=16 groups%8=0 depthwise 7x7 stride_1)
row(cuda depthwise3x3_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nchw    -       shared:13600,registers:96,conflicts:1.25,sectors:5.05,fma:0.2  depthwise 3x3 stride_1)
row(cuda depthwise3x3_s2  depthwise_row_sums taps_in_registers f32,f16,bf16  nchw    rows:4  shared:20808,registers:112,conflicts:1.35,sectors:3.2          depthwise 3x3 stride_2)
row(cuda depthwise5x5_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nchw    -       shared:25600,registers:136,conflicts:1.15,sectors:5.1,fma:0.4  depthwise 5x5 stride_1)
row(cuda depthwise5x5_s2  depthwise_row_sums taps_in_registers f32,f16,bf16  nchw    rows:4  shared:28424,registers:160,conflicts:1.15,sectors:2.8          depthwise 5x5 stride_2)
row(cuda depthwise7x7_s1  depthwise_row_sums taps_in_registers f32,f16,bf16  nchw    rows:4  shared:25088,registers:192,conflicts:1.2,sectors:3.3,fma:0.45  depthwise 7x7 stride_1)

# Others: tiles of c (tile_x) and k, and of g (tile_y) where nothing is staged.
#        row              algorithm  schedule  types         layouts    knobs                                                                      budget                                                       where
row(gpu  depthwise        sliced     unstaged  f32,f16,bf16  nhwc,nchw  tile_k:1,threads_k:1,tile_x:1,threads_x:1,tile_y:64,threads_y:64,parts:64  shared:0,registers:40,sectors:14.4                           parts_64 depthwise)
row(gpu  few              sliced     unstaged  f32,f16,bf16  nhwc,nchw  tile_k:4,threads_k:1,tile_x:4,threads_x:4,tile_y:16,threads_y:16,parts:16  shared:0,registers:64,sectors:3.6                            parts_16 channels_per_group<=8 filters_per_group<=8)
row(gpu  few_channels     sliced     unstaged  f32,f16,bf16  nhwc,nchw  tile_k:64,threads_k:16,tile_x:4,threads_x:4,parts:64                       shared:0,registers:56,sectors:2.9                            parts_64 channels_per_group<=8)
row(gpu  few_channels_16  sliced     unstaged  f32,f16,bf16  nhwc,nchw  tile_k:64,threads_k:16,tile_x:4,threads_x:4,parts:16                       shared:0,registers:56,sectors:2.9                            parts_16 channels_per_group<=8)
row(gpu  grouped          sliced     staged    f32,f16,bf16  nhwc,nchw  tile_k:32,threads_k:8,tile_x:32,threads_x:8,parts:8                        shared:2304,registers:64,conflicts:1.0,sectors:2.55,fma:0.4  parts_8 groups>=8 channels_per_group<=32 filters_per_group<=32)
row(gpu  parts_64         sliced     staged    f32,f16,bf16  nhwc,nchw  parts:64                                                                   shared:4352,registers:64,conflicts:1.0,sectors:2.55           parts_64)
row(gpu  parts_8          sliced     staged    f32,f16,bf16  nhwc,nchw  parts:8                                                                    shared:4352,registers:64,conflicts:1.0,sectors:2.7           parts_8)
row(gpu  staged           sliced     staged    f32,f16,bf16  nhwc,nchw  -                                                                          shared:4352,registers:64,conflicts:1.0,sectors:7.4,fma:0.5)
row(gpu  unstaged_parts   sliced     unstaged  f32,f16,bf16  nhwc,nchw  parts:16                                                                   shared:0,registers:40,sectors:2.85                            parts_16)
row(gpu  unstaged         sliced     unstaged  f32,f16,bf16  nhwc,nchw  -                                                                          shared:0,registers:40,sectors:6.6)
