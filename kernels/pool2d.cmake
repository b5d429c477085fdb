# average: 0 is max.
kernel_family(pool2d FIELDS pool2d/fields.def)
include(kernels/terms/convolution.cmake)

term(2x2_s2 kernel_w=2 kernel_h=2 stride_2 padding=0)
term(3x3_s2 kernel_w=3 kernel_h=3 stride_2)
# Sums of more terms are added up in blocks (generators/long_sum.h): by a CPU's last row, by all rows of a GPU.
term(few_pixels pixels_in_sum<=16384)
term(planes whole_plane>=1 whole_plane<=262144 few_pixels)  # sums of as few

# narrow: with vectors of 16 explorer run pool2d CASE --layout nchw --knobs lanes:16 has 0.69 of the speed
# (max_n64_8x8_32_2x2_s2), 0.88 (average_7x7_1280_7x7_s1).
# 3x3_s2, the pooling after most first layers: bench --family pool2d --filter 3x3_s2, 1.1 to 1.2 times as fast as max_wide,
# of nchw 1.4 times as fast as max (--row max_wide; --layout nchw --row max).
# max_2x2_wide, two vectors of channels side by side: bench --family pool2d --filter 2x2_s2, 1.2 to 1.4 times as fast as
# max_2x2 (--row max_2x2). average_planes of nhwc, eight: pixels a power of two apart meet in few sets of the first cache,
# and what is read of one should be much: bench --family pool2d --filter average_7x7_2048, 1.5 times as fast as average_wide.
# average_planes of nchw: bench --family pool2d --filter average_7x7 --layout nchw, on an Intel Xeon, family 6, model 207, 5 times as
# fast as average_narrow (--row average_narrow).
#        row             algorithm          schedule     types         layouts    knobs    where
row(cpu  max_2x2_wide    max                by_channels  f32,f16,bf16  nhwc       vectors:2        average=0 2x2_s2 channels>=32)
row(cpu  max_2x2         max                by_channels  f32,f16,bf16  nhwc       -        average=0 2x2_s2)
row(cpu  max_2x2_narrow  max_by_rows        by_rows      f32,f16,bf16  nchw       lanes:8  average=0 2x2_s2 out_w<=35)
row(cpu  max_2x2         max_by_rows        by_rows      f32,f16,bf16  nchw       -        average=0 2x2_s2)
row(cpu  max_3x3_s2      max                by_channels  f32,f16,bf16  nhwc       vectors:4        average=0 3x3_s2 channels>=64)
row(cpu  max_3x3_s2      max_by_rows        by_rows      f32,f16,bf16  nchw       -        average=0 3x3_s2)
row(cpu  max_wide        max                by_channels  f32,f16,bf16  nhwc       vectors:4        average=0 channels>=64)
row(cpu  max             max                by_channels  f32,f16,bf16  nhwc       -        average=0)
row(cpu  max             max_by_rows        by_rows      f32,f16,bf16  nchw       -        average=0)
row(cpu  average_planes  average            by_channels  f32,f16,bf16  nhwc       vectors:8        average=1 planes channels>=128)
row(cpu  average_wide    average            by_channels  f32,f16,bf16  nhwc       vectors:4        average=1 few_pixels channels>=64)
row(cpu  average         average            by_channels  f32,f16,bf16  nhwc       -        average=1 few_pixels)
row(cpu  average_planes  average_of_planes  by_planes    f32,f16,bf16  nchw       -        average=1 planes)
row(cpu  average_narrow  average_by_rows    by_rows      f32,f16,bf16  nchw       lanes:8  average=1 few_pixels out_w<=35)
row(cpu  average         average_by_rows    by_rows      f32,f16,bf16  nchw       -        average=1 few_pixels)
row(cpu  average_long    average_in_blocks  in_blocks    f32,f16,bf16  nhwc,nchw  -        average=1)

# GPU: tiles of pixels a thread, whose windows are known; else an element a thread, sums in blocks. Budgets are what was
# measured, registers rounded up to a multiple of 8.
#        row             algorithm          schedule            types         layouts    knobs  budget                                              where
row(gpu  max_2x2         max                tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:96,sectors:2.4                   average=0 kernel_w=2 kernel_h=2 stride_2)
row(gpu  max_3x3_s2      max                tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:112,sectors:2.1                  average=0 3x3_s2)
row(gpu  max             max                thread_per_element  f32,f16,bf16  nhwc,nchw  -      shared:0,registers:32,sectors:2.1                   average=0)
row(gpu  average_2x2     average_of_tiles   tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:96,sectors:2.4                   average=1 kernel_w=2 kernel_h=2 stride_2)
row(gpu  average_3x3     average_of_tiles   tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:80,sectors:1.9                   average=1 kernel_w=3 kernel_h=3 stride_1)
row(gpu  average_planes  average_in_lanes   block_of_lanes      f32,f16,bf16  nhwc,nchw  -      shared:1024,registers:32,conflicts:1.0,sectors:2.7  average=1 whole_plane>=1 whole_plane<=1000)
row(gpu  average         average_in_blocks  thread_per_element  f32,f16,bf16  nhwc,nchw  -      shared:0,registers:32,sectors:2.25                  average=1)
