# Type: of the input; u8 stands for s8 too. output_bytes: 1 u8 or s8, 4 f32 or s32.
kernel_family(quantized_conv2d USES conv2d FIELDS convolution/fields.def quantized_conv2d/fields.def)
include(kernels/terms/convolution.cmake)

term(to_8  output_bytes=1)
term(to_32 output_bytes=4)
# Of f32, as conv2d's; integers lose nothing.
term(short depth<=32768)
# Copies of rows of a few tiles, which a window's taps meet.
term(bounded_copy window<=1048576 copied<=16777216 spread<=4096 stride_x<=8 stride_y<=8)
term(grouped4 channels_per_group=4 filters_per_group=4 groups%4=0 grouped_rows)
# Long sums for few pixels: the filter is read as it is.
term(dot_u8  filters_per_group%4=0 channels_per_group%64=0 depth_per_pixel>=40)
term(dot_f32 filters_per_group%4=0 channels_per_group%16=0 depth_per_pixel>=40)
# Products of matrices on tensor cores: whole vectors of 16 bytes of channels and of filters.
term(vectors_of_bytes aligned=1 line=1 channels_per_group%16=0 filters_per_group%16=0)
# Of 128 filters by 128 pixels: blocks for half of an H100 at least, whose sums take longer than what follows them.
term(large_tiles filters_per_group%128=0 depth>=256 outputs>=1114112)
# Or their output's rows are whole vectors of 8, or 4, pixels, of blocks of 64 filters.
term(rows_of_8 copied_vectors image_alignment>=8 out_w%8=0 filters_per_group%64=0)
term(rows_of_4 copied_vectors image_alignment>=4 out_w%4=0 filters_per_group%64=0)
# Words of pixels are turned as rows are copied; of 1x1 filters a copy has the pixels alone that they meet.
term(words_of_rows kernel_w>=2 width%4=0)
term(1x1_of_vectors 1x1 stride_1 channels_per_group%16=0)
# Words of four bytes are copied, less than 2^31 bytes of them.
term(copied_words padded_vectors<=134217727 weight_size<=16777215)
# Of any number of channels, copied; of filters as above.
term(windows_to_bytes windows output_alignment>=16 line=1 filters_per_group%16=0)

# CPU. Depthwise, nchw: channels are gathered. Vectors of columns were faster on large images, and slower on small ones.
# Few channels a group: vectors across groups (4, 8), whose filters are so small that the kernel packs them. All other
# filters are packed before, in each call unless they are prepared (hk/filter.h).
# 1x1: two vectors of filters by seven pixels; 1x1_16 where the last pair would be half empty. Passes of 8 blocks stay in
# a core's second cache, and are what threads share where pixels are few.
# tiles: products of matrices in registers (schedules/conv2d/cpu/tiles.cpp), 1.5 to 4.6 times as fast as the rows behind
# them on a Xeon, family 6, model 167 (explorer run quantized_conv2d resnet50 --type u8 --row any_to_8).
#        row                        algorithm  schedule          types   layouts    knobs                               where
row(cpu  long_to_8                  packed     broadcast_blocks  f32     nhwc,nchw  block:16                            depth>=32769 to_8)
row(cpu  depthwise3x3_s1_w7_to_8    depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_8 depthwise 3x3 same_7 groups>=16)
row(cpu  depthwise3x3_s1_w14_to_8   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_8 depthwise 3x3 same_14 groups>=16)
row(cpu  depthwise3x3_s1_w28_to_8   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_8 depthwise 3x3 same_28 groups>=16)
row(cpu  depthwise3x3_s1_w56_to_8   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_8 depthwise 3x3 same_56 groups>=16)
row(cpu  depthwise3x3_s1_w112_to_8  depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14                   to_8 depthwise 3x3 same_112 groups>=16)
row(cpu  depthwise3x3_s2_w14_to_8   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_8 depthwise 3x3 half_14 groups>=16)
row(cpu  depthwise3x3_s2_w28_to_8   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_8 depthwise 3x3 half_28 groups>=16)
row(cpu  depthwise3x3_s2_w56_to_8   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_8 depthwise 3x3 half_56 groups>=16)
row(cpu  depthwise3x3_s2_w112_to_8  depthwise  sliding           u8,f32  nhwc       words:2,vectors:2                   to_8 depthwise 3x3 half_112 groups>=32)
row(cpu  depthwise3x3_s1_wide_to_8  depthwise  sliding           u8      nhwc       vectors:4,tile_x:4                  to_8 depthwise 3x3 stride_1 groups%64=0 out_w>=7)
row(cpu  depthwise3x3_s1_to_8       depthwise  sliding           u8,f32  nhwc,nchw  -                                   to_8 depthwise 3x3 stride_1 groups>=16 out_w>=7)
row(cpu  depthwise3x3_s2_to_8       depthwise  sliding           u8,f32  nhwc,nchw  -                                   to_8 depthwise 3x3 stride_2 groups>=16 out_w>=7)
row(cpu  depthwise_to_8             depthwise  sliding           u8,f32  nhwc,nchw  tile_x:1                            to_8 depthwise groups>=16)
row(cpu  grouped4_3x3_s1_to_8       grouped    grouped           u8,f32  nhwc       -                                   to_8 grouped4 3x3 stride_1 out_w>=7)
row(cpu  grouped4_3x3_s2_to_8       grouped    grouped           u8,f32  nhwc       -                                   to_8 grouped4 3x3 stride_2 out_w>=7)
row(cpu  grouped8_3x3_s1_to_8       grouped    grouped           u8,f32  nhwc       -                                   to_8 grouped8 3x3 stride_1 out_w>=7)
row(cpu  grouped8_3x3_s2_to_8       grouped    grouped           u8,f32  nhwc       -                                   to_8 grouped8 3x3 stride_2 out_w>=7)
row(cpu  grouped16_3x3_s1_to_8      packed     grouped           u8,f32  nhwc       -                                   to_8 grouped16 3x3 stride_1 out_w>=7)
row(cpu  grouped16_3x3_s2_to_8      packed     grouped           u8,f32  nhwc       -                                   to_8 grouped16 3x3 stride_2 out_w>=7)
row(cpu  grouped32_3x3_s1_to_8      packed     grouped           u8,f32  nhwc       -                                   to_8 grouped32 3x3 stride_1 out_w>=7)
row(cpu  grouped32_3x3_s2_to_8      packed     grouped           u8,f32  nhwc       -                                   to_8 grouped32 3x3 stride_2 out_w>=7)
row(cpu  1x1_dot_to_8               dot        dot               u8      nhwc       -                                   to_8 prepared=0 dot_u8 1x1 stride_1)
row(cpu  3x3_dot_to_8               dot        dot               u8      nhwc       -                                   to_8 prepared=0 dot_u8 3x3)
row(cpu  1x1_dot_to_8               dot        dot               f32     nhwc       -                                   to_8 prepared=0 dot_f32 1x1 stride_1)
row(cpu  3x3_dot_to_8               dot        dot               f32     nhwc       -                                   to_8 prepared=0 dot_f32 3x3)
row(amx  tiles_1x1_to_8             slices_of_line tiles         u8      nhwc       -                                   to_8 signed_input=0 1x1 stride_1 channels_per_group%64=0 filters_per_group>=16 out_w>=32)
row(amx  tiles_line_to_8            slices     tiles             u8      nhwc       tiles_x:2,tiles_y:1,chunk:4,panel:512  to_8 1x1 stride_1 channels_per_group>=32 filters_per_group>=16 out_w>=32)
row(amx  tiles_to_8                 slices     tiles             u8      nhwc       -                                   to_8 channels_per_group>=32 filters_per_group>=16 bounded_copy)
row(cpu  rgb_to_8                   packed     broadcast         u8,f32  nhwc       tile_x:8                            to_8 channels_per_group=3 bounded_copy)
row(cpu  1x1_to_8                   packed     broadcast         u8,f32  nhwc       stage:0,chunk:16,outer:8            to_8 1x1 channels_per_group%4=0 filters_per_group%32=0)
row(cpu  1x1_16_to_8                packed     broadcast         u8,f32  nhwc       block:16,tile_x:8,stage:0,chunk:16  to_8 1x1 channels_per_group%4=0)
row(cpu  3x3_to_8                   packed     broadcast         u8,f32  nhwc       -                                   to_8 3x3 filters_per_group>=17)
row(cpu  3x3_few_filters_to_8       packed     broadcast         u8,f32  nhwc       block:16,tile_x:14                  to_8 3x3)
row(cpu  any_to_8                   packed     broadcast         u8,f32  nhwc,nchw  -                                   to_8)

#        row                         algorithm  schedule          types   layouts    knobs                               where
row(cpu  long_to_32                  packed     broadcast_blocks  f32     nhwc,nchw  block:16                            depth>=32769 to_32)
row(cpu  depthwise3x3_s1_w7_to_32    depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_32 depthwise 3x3 same_7 groups>=16)
row(cpu  depthwise3x3_s1_w14_to_32   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_32 depthwise 3x3 same_14 groups>=16)
row(cpu  depthwise3x3_s1_w28_to_32   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_32 depthwise 3x3 same_28 groups>=16)
row(cpu  depthwise3x3_s1_w56_to_32   depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14,unroll:1          to_32 depthwise 3x3 same_56 groups>=16)
row(cpu  depthwise3x3_s1_w112_to_32  depthwise  sliding           u8,f32  nhwc       words:2,tile_x:14                   to_32 depthwise 3x3 same_112 groups>=16)
row(cpu  depthwise3x3_s2_w14_to_32   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_32 depthwise 3x3 half_14 groups>=16)
row(cpu  depthwise3x3_s2_w28_to_32   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_32 depthwise 3x3 half_28 groups>=16)
row(cpu  depthwise3x3_s2_w56_to_32   depthwise  sliding           u8,f32  nhwc       words:2,unroll:1                    to_32 depthwise 3x3 half_56 groups>=16)
row(cpu  depthwise3x3_s2_w112_to_32  depthwise  sliding           u8,f32  nhwc       words:2,vectors:2                   to_32 depthwise 3x3 half_112 groups>=32)
row(cpu  depthwise3x3_s1_wide_to_32  depthwise  sliding           u8      nhwc       vectors:4,tile_x:4                  to_32 depthwise 3x3 stride_1 groups%64=0 out_w>=7)
row(cpu  depthwise3x3_s1_to_32       depthwise  sliding           u8,f32  nhwc,nchw  -                                   to_32 depthwise 3x3 stride_1 groups>=16 out_w>=7)
row(cpu  depthwise3x3_s2_to_32       depthwise  sliding           u8,f32  nhwc,nchw  -                                   to_32 depthwise 3x3 stride_2 groups>=16 out_w>=7)
row(cpu  depthwise_to_32             depthwise  sliding           u8,f32  nhwc,nchw  tile_x:1                            to_32 depthwise groups>=16)
row(cpu  grouped4_3x3_s1_to_32       grouped    grouped           u8,f32  nhwc       -                                   to_32 grouped4 3x3 stride_1 out_w>=7)
row(cpu  grouped4_3x3_s2_to_32       grouped    grouped           u8,f32  nhwc       -                                   to_32 grouped4 3x3 stride_2 out_w>=7)
row(cpu  grouped8_3x3_s1_to_32       grouped    grouped           u8,f32  nhwc       -                                   to_32 grouped8 3x3 stride_1 out_w>=7)
row(cpu  grouped8_3x3_s2_to_32       grouped    grouped           u8,f32  nhwc       -                                   to_32 grouped8 3x3 stride_2 out_w>=7)
row(cpu  grouped16_3x3_s1_to_32      packed     grouped           u8,f32  nhwc       -                                   to_32 grouped16 3x3 stride_1 out_w>=7)
row(cpu  grouped16_3x3_s2_to_32      packed     grouped           u8,f32  nhwc       -                                   to_32 grouped16 3x3 stride_2 out_w>=7)
row(cpu  grouped32_3x3_s1_to_32      packed     grouped           u8,f32  nhwc       -                                   to_32 grouped32 3x3 stride_1 out_w>=7)
row(cpu  grouped32_3x3_s2_to_32      packed     grouped           u8,f32  nhwc       -                                   to_32 grouped32 3x3 stride_2 out_w>=7)
row(cpu  1x1_dot_to_32               dot        dot               u8      nhwc       -                                   to_32 prepared=0 dot_u8 1x1 stride_1)
row(cpu  3x3_dot_to_32               dot        dot               u8      nhwc       -                                   to_32 prepared=0 dot_u8 3x3)
row(cpu  1x1_dot_to_32               dot        dot               f32     nhwc       -                                   to_32 prepared=0 dot_f32 1x1 stride_1)
row(cpu  3x3_dot_to_32               dot        dot               f32     nhwc       -                                   to_32 prepared=0 dot_f32 3x3)
row(cpu  rgb_to_32                   packed     broadcast         u8,f32  nhwc       tile_x:8                            to_32 channels_per_group=3 bounded_copy)
row(cpu  1x1_to_32                   packed     broadcast         u8,f32  nhwc       stage:0,chunk:16,outer:8            to_32 1x1 channels_per_group%4=0 filters_per_group%32=0)
row(cpu  1x1_16_to_32                packed     broadcast         u8,f32  nhwc       block:16,tile_x:8,stage:0,chunk:16  to_32 1x1 channels_per_group%4=0)
row(cpu  3x3_to_32                   packed     broadcast         u8,f32  nhwc       -                                   to_32 3x3 filters_per_group>=17)
row(cpu  3x3_few_filters_to_32       packed     broadcast         u8,f32  nhwc       block:16,tile_x:14                  to_32 3x3)
row(cpu  any_to_32                   packed     broadcast         u8,f32  nhwc,nchw  -                                   to_32)

# GPU: a ladder as conv2d's, in words of four channels. Budgets are what was measured, registers rounded up to a
# multiple of 8. Tiles of bytes are a quarter as large, so that 3x3_small is for f32 alone. 1x1 of bytes and 3x3 are for
# OpenCL, where products, or words, leave nothing to them. matrices of nchw read a copy with channels next to each other,
# as conv2d's.
# matrices_128: by tiles of half as many sums, which the second cache bounds, the layers of ResNet-50 take 1.16 times as long
# by the model (counts --list resnet50 --family quantized_conv2d --type u8 --batch 32, with and without it). Of fewer tiles,
# and of sums of less than 256 terms, smaller ones take less. The same of words_128 and matrices_128 in nchw: 1.21 to 1.34
# times as long of 3x3 filters, 1.08 to 1.25 of 1x1 (counts … --layout nchw, with and without them).
# matrices_any: any number of filters, wherever pixels are; a thread stores one by one. 0.12 of the time of 3x3 by dp4a by
# the model (counts --list input=8x28x28x64,weight=84x3x3x64,padding=1 --family quantized_conv2d --type u8, with and without
# it), 0.51 of that of 1x1 (the same of input=8x56x56x144,weight=24x1x1x144).
# rows of 1x1 filters read nchw as it is, words of four pixels, and store vectors of 8 or 4: 0.35 to 0.98 of the time of
# matrices_1x1 by the model (counts --list resnet50 --family quantized_conv2d --layout nchw --batch 32, with and without
# them). Of 128 filters a block turns words half as often. Of 4 pixels a thread has one vector, so that neighbours store next
# to each other, though words conflict in shared memory. words read a copy that is turned on its way, and store so;
# matrices_rows store so, and read the copy of the pixels that 1x1 filters with strides meet.
# few and any of bytes read copies of both operands, in words of four channels, on CUDA: 0.45 of the time of tiles that pack
# bytes as they stage them, OpenCL's, by the model (counts --list input=8x56x56x128,weight=128x3x3x4,padding=1,groups=32
# --family quantized_conv2d --type u8, with and without them). few_line: images of one row, as 1x1 filters' are, 0.41 of the
# time of few (the same of input=8x56x56x64,weight=8x1x1x64).
# products, of f32, read a filter that is made f32 first, in nchw the input as it is, as conv2d's; of windows in two stages,
# as a ladder's rungs are smaller and smaller.
#        row             algorithm      schedule          types   layouts    knobs                                                              budget                                                        where
row(gpu  depthwise_to_8  sliced         thread_per_group  u8,f32  nhwc,nchw  -                                                                  shared:0,registers:40,sectors:3.4                             to_8 short depthwise)
row(cuda matrices_parts_64_to_8 products_in_parts  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:64,warps_x:2            shared:32768,registers:104,conflicts:1.0,sectors:1.0,fma:0.1  to_8 vectors_of_bytes few_small_tiles)
row(cuda matrices_parts_to_8  products_in_parts  matrices  u8  nhwc  tile_k:128,warps_k:2,tile_x:64,warps_x:1,stages:3  shared:36864,registers:248,conflicts:1.0,sectors:1.0,fma:0.1  to_8 vectors_of_bytes few_tiles)
row(cuda matrices_128_to_8   products           matrices  u8  nhwc  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:3  shared:52224,registers:240,conflicts:1.0,sectors:1.0,fma:0.25  to_8 vectors_of_bytes large_tiles)
row(cuda matrices_1x1_to_8    products           matrices  u8  nhwc  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3  shared:38912,registers:255,conflicts:1.0,sectors:1.0,fma:0.3  to_8 vectors_of_bytes 1x1 out_h<=1)
row(cuda matrices_to_8        products           matrices  u8  nhwc  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3  shared:38912,registers:255,conflicts:1.0,sectors:1.85,fma:0.25  to_8 vectors_of_bytes)
row(cuda matrices_windows_to_8  products_of_windows  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3  shared:38912,registers:128,conflicts:1.0,sectors:3.6,fma:0.45  to_8 windows_to_bytes)
row(cuda matrices_any_to_8  products_of_windows  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:160,conflicts:1.0,sectors:5.5,fma:0.3  to_8 windows line=1)
row(cuda matrices_parts_to_8  products_in_parts  matrices  u8  nchw  tile_k:64,warps_k:2,tile_x:64,warps_x:2            shared:32768,registers:104,conflicts:1.0,sectors:3.1,fma:0.25  to_8 copied_vectors few_tiles)
row(cuda rows_128_to_8        products_of_rows   matrices  u8  nchw  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:1            shared:17920,registers:208,conflicts:1.0,sectors:4.0  to_8 rows_of_8 1x1_of_vectors filters_per_group%128=0)
row(cuda rows_to_8           products_of_rows   matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:1            shared:13056,registers:208,conflicts:1.0,sectors:2.0  to_8 rows_of_8 1x1_of_vectors)
row(cuda rows_4_128_to_8     products_of_rows   matrices  u8  nchw  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:1,vector:4   shared:17920,registers:208,conflicts:1.05,sectors:3.15  to_8 rows_of_4 1x1_of_vectors filters_per_group%128=0)
row(cuda rows_4_to_8         products_of_rows   matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:1,vector:4   shared:13056,registers:208,conflicts:1.2,sectors:2.9  to_8 rows_of_4 1x1_of_vectors)
row(cuda words_128_to_8        products_of_rows   matrices  u8  nchw  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:4   shared:52224,registers:232,conflicts:1.0,sectors:1.2,fma:0.3  to_8 words_of_rows rows_of_4 large_tiles)
row(cuda matrices_128_to_8     products_apart     matrices  u8  nchw  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:1   shared:52224,registers:232,conflicts:1.0,sectors:1.35,fma:0.35  to_8 copied_vectors large_tiles)
row(cuda matrices_1x1_to_8    products_apart     matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:255,conflicts:1.0,sectors:2.05,fma:0.55  to_8 copied_vectors 1x1 stride_1)
row(cuda words_to_8           products_of_rows   matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3            shared:38912,registers:255,conflicts:1.0,sectors:1.6,fma:0.25  to_8 words_of_rows rows_of_8)
row(cuda words_4_to_8         products_of_rows   matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:4   shared:38912,registers:255,conflicts:1.0,sectors:1.55,fma:0.25  to_8 words_of_rows rows_of_4)
row(cuda matrices_rows_4_to_8  products_apart     matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:4   shared:38912,registers:255,conflicts:1.0,sectors:2.45,fma:0.55  to_8 rows_of_4)
row(cuda matrices_to_8        products_apart     matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:255,conflicts:1.0,sectors:4.3,fma:0.25  to_8 copied_vectors)
row(cuda matrices_windows_rows_to_8  products_of_windows  matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3            shared:38912,registers:255,conflicts:1.0,sectors:1.15,fma:0.6  to_8 windows_to_rows image_alignment>=8 out_w%8=0 filters_per_group%64=0)
row(cuda matrices_windows_to_8  products_of_windows  matrices  u8  nchw  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:136,conflicts:1.0,sectors:1.6,fma:0.45  to_8 windows_to_rows)
row(cuda products_parts_to_8    products_in_parts    outer_products  f32  nhwc  tile_k:128,tile_x:64,threads_k:16,threads_x:8  shared:43008,registers:128,conflicts:1.1,sectors:1.4,fma:0.9  to_8 short vectors_of_bytes few_tiles filters_per_group>=48)
row(cuda products_to_8          products             outer_products  f32  nhwc  -                                              shared:41472,registers:128,conflicts:1.05,sectors:1.45,fma:0.9  to_8 short vectors_of_bytes filters_per_group>=24)
row(cuda products_windows_to_8  products_of_windows  outer_products  f32  nhwc  stages:2                                       shared:27648,registers:128,conflicts:1.05,sectors:1.5,fma:0.9  to_8 short line=1 windows filters_per_group>=24)
row(cuda products_parts_to_8    products_in_parts    outer_products  f32  nchw  tile_k:128,tile_x:64,threads_k:16,threads_x:8  shared:36864,registers:128,conflicts:1.05,sectors:1.5,fma:0.9  to_8 short copied_vectors few_tiles filters_per_group>=48)
row(cuda products_to_8          products_apart       outer_products  f32  nchw  -                                              shared:38400,registers:136,conflicts:1.1,sectors:1.3,fma:0.9  to_8 short copied_vectors filters_per_group>=24)
row(cuda products_windows_to_8  products_of_windows  outer_products  f32  nchw  stages:2                                       shared:29696,registers:128,conflicts:1.1,sectors:1.2,fma:0.9  to_8 short windows_to_rows filters_per_group>=24)
row(opencl 1x1_to_8      sliced         staged            u8      nhwc,nchw  -                                                                  shared:4096,registers:64                                      to_8 1x1)
row(cuda few_line_to_8   words          words             u8      nhwc,nchw  tile_k:16,threads_k:2,tile_x:256,tile_y:1,threads_x:64,threads_y:1,tile_c:4 shared:13824,registers:112,conflicts:1.0,sectors:3.25         to_8 filters_per_group<=16 out_h<=1 copied_words)
row(cuda few_to_8        words          words             u8      nhwc,nchw  tile_k:16,threads_k:4,tile_x:32,tile_y:8,threads_x:8,threads_y:4,tile_c:4 shared:16512,registers:104,conflicts:1.0,sectors:2.5,fma:0.8  to_8 filters_per_group<=16 copied_words)
row(opencl few_to_8      sliced         staged            u8      nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:4352,registers:88                                      to_8 filters_per_group<=16)
row(opencl 3x3_to_8      sliced         staged            u8      nhwc,nchw  -                                                                  shared:10816,registers:72                                     to_8 3x3 stride_1)
row(cuda any_to_8        words          words             u8      nhwc,nchw  -                                                                  shared:23040,registers:144,conflicts:1.0,sectors:7.7,fma:0.9  to_8 copied_words)
row(opencl any_to_8      sliced         staged            u8      nhwc,nchw  -                                                                  shared:2048,registers:96                                      to_8)
row(gpu  1x1_to_8        sliced         staged            f32     nhwc,nchw  -                                                                  shared:4224,registers:80,conflicts:1.0,sectors:1.55,fma:0.55  short to_8 1x1)
row(gpu  few_to_8        sliced         staged            f32     nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:8832,registers:80,conflicts:1.45,sectors:2.4,fma:0.35  short to_8 filters_per_group<=16)
row(opencl 3x3_to_8        sliced         staged            f32     nhwc,nchw  -                                                                  shared:22784,registers:64  short to_8 3x3 stride_1)
row(opencl 3x3_small_to_8  sliced         staged            f32     nhwc,nchw  tile_c:1                                                           shared:11392,registers:80   short to_8 3x3 stride_1)
row(gpu  any_to_8        sliced         staged            f32     nhwc,nchw  -                                                                  shared:4224,registers:88,conflicts:1.5,sectors:3.9,fma:0.5    short to_8)
row(gpu  unstaged_to_8   sliced         unstaged          u8      nhwc,nchw  -                                                                  shared:0,registers:96,sectors:5.7                             to_8)
row(gpu  unstaged_to_8   sliced_blocks  unstaged          f32     nhwc,nchw  -                                                                  shared:0,registers:96,sectors:5.7                             to_8)

#        row              algorithm      schedule          types   layouts    knobs                                                              budget                                                        where
row(gpu  depthwise_to_32  sliced         thread_per_group  u8,f32  nhwc,nchw  -                                                                  shared:0,registers:40,sectors:3.1                             to_32 short depthwise)
row(cuda matrices_parts_64_to_32 products_in_parts  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:64,warps_x:2            shared:32768,registers:104,conflicts:1.0,sectors:1.0,fma:0.1  to_32 vectors_of_bytes few_small_tiles)
row(cuda matrices_parts_to_32  products_in_parts  matrices  u8  nhwc  tile_k:128,warps_k:2,tile_x:64,warps_x:1,stages:3  shared:36864,registers:248,conflicts:1.0,sectors:1.0,fma:0.1  to_32 vectors_of_bytes few_tiles)
row(cuda matrices_128_to_32  products           matrices  u8  nhwc  tile_k:128,warps_k:2,tile_x:128,warps_x:2,stages:3  shared:52224,registers:240,conflicts:1.0,sectors:1.0,fma:0.25  to_32 vectors_of_bytes large_tiles)
row(cuda matrices_1x1_to_32    products           matrices  u8  nhwc  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3  shared:38912,registers:255,conflicts:1.0,sectors:1.0,fma:0.3  to_32 vectors_of_bytes 1x1 out_h<=1)
row(cuda matrices_to_32        products           matrices  u8  nhwc  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3  shared:38912,registers:255,conflicts:1.0,sectors:1.85,fma:0.25  to_32 vectors_of_bytes)
row(cuda matrices_windows_to_32  products_of_windows  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3  shared:38912,registers:128,conflicts:1.0,sectors:2.5,fma:0.45  to_32 windows_to_bytes)
row(cuda matrices_any_to_32  products_of_windows  matrices  u8  nhwc  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:152,conflicts:1.0,sectors:5.4,fma:0.3  to_32 windows line=1)
row(cuda matrices_parts_to_32  products_in_parts  matrices  u8  nchw  tile_k:64,warps_k:2,tile_x:64,warps_x:2            shared:32768,registers:104,conflicts:1.0,sectors:3.15,fma:0.25  to_32 copied_vectors few_tiles)
row(cuda matrices_1x1_to_32    products_apart     matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:255,conflicts:1.0,sectors:1.3,fma:0.55  to_32 copied_vectors 1x1 stride_1)
row(cuda matrices_to_32        products_apart     matrices  u8  nchw  tile_k:64,warps_k:1,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:255,conflicts:1.0,sectors:4.2,fma:0.25  to_32 copied_vectors)
row(cuda matrices_windows_to_32  products_of_windows  matrices  u8  nchw  tile_k:64,warps_k:2,tile_x:128,warps_x:2,stages:3,vector:1  shared:38912,registers:136,conflicts:1.0,sectors:1.35,fma:0.45  to_32 windows_to_rows)
row(cuda products_parts_to_32    products_in_parts    outer_products  f32  nhwc  tile_k:128,tile_x:64,threads_k:16,threads_x:8  shared:43008,registers:128,conflicts:1.1,sectors:1.4,fma:0.9  to_32 short vectors_of_bytes few_tiles filters_per_group>=48)
row(cuda products_to_32          products             outer_products  f32  nhwc  -                                              shared:41472,registers:128,conflicts:1.05,sectors:1.1,fma:0.9  to_32 short vectors_of_bytes filters_per_group>=24)
row(cuda products_windows_to_32  products_of_windows  outer_products  f32  nhwc  stages:2                                       shared:27648,registers:128,conflicts:1.05,sectors:1.5,fma:0.9  to_32 short line=1 windows filters_per_group>=24)
row(cuda products_parts_to_32    products_in_parts    outer_products  f32  nchw  tile_k:128,tile_x:64,threads_k:16,threads_x:8  shared:36864,registers:128,conflicts:1.05,sectors:1.5,fma:0.9  to_32 short copied_vectors few_tiles filters_per_group>=48)
row(cuda products_to_32          products_apart       outer_products  f32  nchw  -                                              shared:38400,registers:136,conflicts:1.1,sectors:1.1,fma:0.9  to_32 short copied_vectors filters_per_group>=24)
row(cuda products_windows_to_32  products_of_windows  outer_products  f32  nchw  stages:2                                       shared:29696,registers:128,conflicts:1.1,sectors:1.1,fma:0.9  to_32 short windows_to_rows filters_per_group>=24)
row(opencl 1x1_to_32     sliced         staged            u8      nhwc,nchw  -                                                                  shared:4096,registers:64                                      to_32 1x1)
row(cuda few_line_to_32  words          words             u8      nhwc,nchw  tile_k:16,threads_k:2,tile_x:256,tile_y:1,threads_x:64,threads_y:1,tile_c:4 shared:13824,registers:112,conflicts:1.0,sectors:3.25         to_32 filters_per_group<=16 out_h<=1 copied_words)
row(cuda few_to_32       words          words             u8      nhwc,nchw  tile_k:16,threads_k:4,tile_x:32,tile_y:8,threads_x:8,threads_y:4,tile_c:4 shared:16512,registers:104,conflicts:1.0,sectors:2.5,fma:0.8  to_32 filters_per_group<=16 copied_words)
row(opencl few_to_32     sliced         staged            u8      nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:4352,registers:88                                      to_32 filters_per_group<=16)
row(opencl 3x3_to_32     sliced         staged            u8      nhwc,nchw  -                                                                  shared:10816,registers:72                                     to_32 3x3 stride_1)
row(cuda any_to_32       words          words             u8      nhwc,nchw  -                                                                  shared:23040,registers:144,conflicts:1.0,sectors:7.7,fma:0.9  to_32 copied_words)
row(opencl any_to_32     sliced         staged            u8      nhwc,nchw  -                                                                  shared:2048,registers:96                                      to_32)
row(gpu  1x1_to_32        sliced         staged            f32     nhwc,nchw  -                                                                  shared:4224,registers:80,conflicts:1.0,sectors:1.65,fma:0.55   short to_32 1x1)
row(gpu  few_to_32        sliced         staged            f32     nhwc,nchw  tile_k:16,threads_k:4,tile_x:16,tile_y:16,threads_x:8,threads_y:8  shared:8832,registers:80,conflicts:1.45,sectors:2.4,fma:0.35  short to_32 filters_per_group<=16)
row(opencl 3x3_to_32        sliced         staged            f32     nhwc,nchw  -                                                                  shared:22784,registers:64  short to_32 3x3 stride_1)
row(opencl 3x3_small_to_32  sliced         staged            f32     nhwc,nchw  tile_c:1                                                           shared:11392,registers:80   short to_32 3x3 stride_1)
row(gpu  any_to_32        sliced         staged            f32     nhwc,nchw  -                                                                  shared:4224,registers:88,conflicts:1.5,sectors:3.9,fma:0.5    short to_32)
row(gpu  unstaged_to_32   sliced         unstaged          u8      nhwc,nchw  -                                                                  shared:0,registers:96,sectors:5.7                             to_32)
row(gpu  unstaged_to_32   sliced_blocks  unstaged          f32     nhwc,nchw  -                                                                  shared:0,registers:96,sectors:5.7                             to_32)
