# Names for conditions of rows that convolve or pool.

term(depthwise channels_per_group=1 filters_per_group=1)
term(stride_1  stride_x=1 stride_y=1)
term(stride_2  stride_x=2 stride_y=2)
term(stride_4  stride_x=4 stride_y=4)

term(1x1 kernel_w=1 kernel_h=1 padding=0)
term(3x3 kernel_w=3 kernel_h=3 dilation_x=1 dilation_y=1)
term(5x5 kernel_w=5 kernel_h=5 dilation_x=1 dilation_y=1)
term(7x7 kernel_w=7 kernel_h=7 dilation_x=1 dilation_y=1)

# Few channels a group. What a tile copies of its input is at most some tens of megabytes, of four groups.
term(grouped_rows copied<=4194304)
term(grouped8  channels_per_group=8  filters_per_group=8  groups%2=0 grouped_rows)
term(grouped16 channels_per_group=16 filters_per_group=16 grouped_rows)
term(grouped32 channels_per_group=32 filters_per_group=32 grouped_rows)

# A width of the input of a 3x3 filter, and the output's, as large or half of it.
term(same_7   stride_1 width=7   out_w=7   padding_left=1)
term(same_14  stride_1 width=14  out_w=14  padding_left=1)
term(same_28  stride_1 width=28  out_w=28  padding_left=1)
term(same_56  stride_1 width=56  out_w=56  padding_left=1)
term(same_112 stride_1 width=112 out_w=112 padding_left=1)
term(half_14  stride_2 width=14  out_w=7   padding_left=1)
term(half_28  stride_2 width=28  out_w=14  padding_left=1)
term(half_56  stride_2 width=56  out_w=28  padding_left=1)
term(half_112 stride_2 width=112 out_w=56  padding_left=1)

# Products of matrices on tensor cores: whole vectors of 16 bytes, and channels enough for slices of 32. Rows that take
# the output's pixels as one line ask for that, too.
term(vectors aligned=1 channels_per_group%8=0 filters_per_group%8=0 channels_per_group>=16 filters_per_group>=16)
term(line_of_vectors vectors line=1)
# Of images in rows (nchw) they are copied with channels next to each other, in whole vectors, less than 2^31 bytes of them:
# any number of channels, and pixels wherever they are.
term(copied_vectors channels_per_group>=16 filters_per_group>=16 inputs<=268435456 outputs<=268435456 weight_size<=268435456)
# Or they are read as they are, in vectors of pixels of a row.
term(rows_of_vectors stride_1 image_alignment>=16 out_w%8=0)
term(rows_of_half_vectors stride_1 image_alignment>=8 out_w%4=0)
# Or the output's gradient alone is, for the filter's: planes of it are lines.
term(gradient_planes output_alignment>=8 out_pixels%4=0)
# What windows meet is copied: rows of taps of few channels, or of any number where pixels are no whole vectors. Of the
# input less than 2^31 bytes, and of the filter, of which each element may become 16 bytes.
term(windows dilation_x=1 filters_per_group>=16 padded_vectors<=134217727 weight_size<=67108864)
term(windows_to_vectors windows output_alignment>=16 line=1 filters_per_group%8=0)
term(windows_to_rows windows channels_per_group<=15 outputs<=268435456)
# Of few tiles, of which each has a long sum, not all multiprocessors of a large GPU have blocks: they are summed in parts
# (runtime/src/convolution/sum_parts.h). Tiles are smaller where outputs are so few that parts have not enough blocks.
term(few_tiles parts>=2)
term(few_small_tiles parts>=2 outputs<=131072)
term(few_input_tiles input_parts>=2)
term(few_small_input_tiles input_parts>=2 inputs<=131072)
# Tiles of 128 by 128 ask the second cache for two thirds of what those of half as many sums do. Where there are 68 or more,
# those of half as many are more than a large GPU has multiprocessors, and no faster for being smaller.
term(square_tiles filters_per_group>=128 outputs>=1114112)
term(square_input_tiles channels_per_group>=128 inputs>=1114112)
