# average: 0 is max.
kernel_family(pool2d_backward LIBRARY pool2d FIELDS pool2d/fields.def)
include(kernels/terms/convolution.cmake)

term(2x2_s2 kernel_w=2 kernel_h=2 stride_2 padding=0)
term(3x3_s2 kernel_w=3 kernel_h=3 stride_2)
term(padded_1 padding_left=1 padding_top=1)
term(few_windows windows_in_sum<=16384)  # as pool2d's few_pixels

# by_phases, on an Intel Xeon, family 6, model 207, bench --family pool2d_backward --filter F --row R:
#   nchw: 2x2_s2 2.0 to 3.9 times as fast as max, 3x3_s2 1.3 to 2.6 times as max, averages 1.5 to 2.1 times as average;
#   nhwc: 3x3_s2 1.1 to 1.7 times as max_wide, 2x2_s2 up to 1.2 times as max_2x2, average_2x2_wide 1.2 times as average_wide;
#   3x3 averages with a stride of 1 1.09 times as that, which have no row. narrow and tiny: 1.2 and 1.1 times max_2x2.
# average_planes: 4.5 to 11 times as fast as average.
#        row             algorithm          schedule     types         layouts    knobs    where
row(cpu  max_2x2_wide    max_by_phases      by_phases    f32,f16,bf16  nhwc       vectors:2        average=0 2x2_s2 channels>=32)
row(cpu  max_2x2         max                by_channels  f32,f16,bf16  nhwc       -        average=0 2x2_s2)
row(cpu  max_2x2_tiny    max_by_phases      by_phases    f32,f16,bf16  nchw       lanes:4  average=0 2x2_s2 width<=8)
row(cpu  max_2x2_narrow  max_by_phases      by_phases    f32,f16,bf16  nchw       lanes:8  average=0 2x2_s2 width<=16)
row(cpu  max_2x2         max_by_phases      by_phases    f32,f16,bf16  nchw       -        average=0 2x2_s2)
row(cpu  max_3x3_s2_1    max_by_phases      by_phases    f32,f16,bf16  nhwc       vectors:4        average=0 3x3_s2 padded_1 channels>=64)
row(cpu  max_3x3_s2      max_by_phases      by_phases    f32,f16,bf16  nhwc       vectors:4        average=0 3x3_s2 padding=0 channels>=64)
row(cpu  max_3x3_s2_1    max_by_phases      by_phases    f32,f16,bf16  nchw       -        average=0 3x3_s2 padded_1)
row(cpu  max_3x3_s2      max_by_phases      by_phases    f32,f16,bf16  nchw       -        average=0 3x3_s2 padding=0)
row(cpu  max_wide        max                by_channels  f32,f16,bf16  nhwc       vectors:4        average=0 few_windows channels>=64)
row(cpu  max             max                by_channels  f32,f16,bf16  nhwc       -        average=0 few_windows)
row(cpu  max             max_by_rows        by_rows      f32,f16,bf16  nchw       -        average=0 few_windows)
row(cpu  average_2x2_wide average_by_phases by_phases    f32,f16,bf16  nhwc       vectors:4        average=1 2x2_s2 channels>=64)
row(cpu  average_2x2     average_by_phases  by_phases    f32,f16,bf16  nchw       -        average=1 2x2_s2)
row(cpu  average_3x3     average_by_phases  by_phases    f32,f16,bf16  nchw       -        average=1 kernel_w=3 kernel_h=3 stride_1 padded_1)
row(cpu  average_wide    average            by_channels  f32,f16,bf16  nhwc       vectors:4        average=1 few_windows channels>=64)
row(cpu  average         average            by_channels  f32,f16,bf16  nhwc       -        average=1 few_windows)
row(cpu  average_planes  average_of_planes  by_planes    f32,f16,bf16  nchw       -        average=1 whole_plane>=1)
row(cpu  average         average_by_rows    by_rows      f32,f16,bf16  nchw       -        average=1 few_windows)
row(cpu  max_long        max_in_blocks      in_blocks    f32,f16,bf16  nhwc,nchw  -        average=0)
row(cpu  average_long    average_in_blocks  in_blocks    f32,f16,bf16  nhwc,nchw  -        average=1)

# GPU: as pool2d, but four elements of a column a thread in place of one: of an H100's model average has three fifths of the
# time (counts --filter pool2d_backward_average --output FILE).
#        row             algorithm          schedule            types         layouts    knobs  budget                                              where
row(gpu  max_2x2         max_of_tiles       tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:64,sectors:2.4                   average=0 2x2_s2)
row(gpu  max_3x3_s2_1    max_of_tiles       tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:128,sectors:2.1                  average=0 3x3_s2 padded_1)
row(gpu  max_3x3_s2      max_of_tiles       tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:128                              average=0 3x3_s2 padding=0)
row(gpu  max             max_in_blocks      column_per_thread   f32,f16,bf16  nhwc,nchw  -      shared:0,registers:64,sectors:1.6                   average=0)
row(gpu  average_2x2     average_of_tiles   tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:32,sectors:1.55                  average=1 2x2_s2)
row(gpu  average_3x3     average_of_tiles   tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:80,sectors:1.9                   average=1 kernel_w=3 kernel_h=3 stride_1)
row(gpu  average_planes  average_of_planes  tile_per_thread     f32,f16,bf16  nhwc,nchw  -      shared:0,registers:32,sectors:3.45                  average=1 whole_plane>=1)
row(gpu  average         average_in_blocks  column_per_thread   f32,f16,bf16  nhwc,nchw  -      shared:0,registers:56,sectors:1.3                   average=1)
