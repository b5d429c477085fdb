# backward: 0 is the forward pass.
kernel_family(group_norm FIELDS group_norm/fields.def)

# rows, small: a group is one block. gradient_rows: bench --family group_norm_backward --filter 1x1_768 --row gradient_few
# has 0.45 of its speed.
term(few_pixels pixels<=16 channels_per_group>=16)
#        row           algorithm            schedule      types         layouts    knobs    where
row(cpu  rows          runs                 cached_group  f32,f16,bf16  nhwc       block:0  backward=0 few_pixels group_elements<=32768)
row(cpu  long_rows     runs                 cached_group  f32,f16,bf16  nhwc       -        backward=0 few_pixels)
row(cpu  channels      channels             cached_slice  f32,f16,bf16  nhwc       -        backward=0)
row(cpu  small         runs                 cached_group  f32,f16,bf16  nchw       block:0  backward=0 group_elements<=16384)
row(cpu  runs          runs                 cached_group  f32,f16,bf16  nchw       -        backward=0)
row(cpu  gradient_rows rows                 cached_rows   f32,f16,bf16  nhwc       -        backward=1 few_pixels)
row(cpu  gradient_few  parts_of_few_pixels  cached_part   f32,f16,bf16  nhwc,nchw  -        backward=1 pixels<=256)
row(cpu  gradient      parts                cached_part   f32,f16,bf16  nhwc,nchw  -        backward=1)

# GPU: of nhwc a warp a group of few pixels, a block of threads a group that caches hold, of whole sectors, else threads for
# parts of each channel; of nchw a block a group, whose channels are one row; on CUDA blocks read vectors, as instructions
# otherwise make the time in 16 bits: of an H100's model few_vectors and vectors have 0.47 and 0.39 of that of block (counts
# --list networks --family group_norm --type f16, 14x14_1024 and 56x56_256). Up to 8192 channels of a pixel are held in
# registers, read once: 0.74 of the time of rows (--type bf16, n16384_1x1_768_g1). Few long groups of nchw, a block each,
# leave most multiprocessors without one: by parts 0.38 of the time (--type bf16 --layout nchw, n1_256x256_256_g32), of f32
# 1.1 times, as the model lets a quarter of them draw all that the memory gives. short: a lane has up to 256 terms.
# For the gradients of large groups threads for parts (nhwc), or first one a channel; last a thread a group.
# Tensors are read from memory once by rows and blocks of groups, twice by parts and gradients of large groups. Budgets are
# what was measured, registers rounded up to a multiple of 8. gradient_parts: of the model a sixth of the time of a block a
# group, for 256x256_64_g64 (docs/performance/nvidia-h100.md). Sums of up to 256 channels are kept in a block's shared memory
# (kMostChannels, generators/group_norm/group_norm.h).
#        row                algorithm        schedule          types         layouts    knobs     budget                                                where
row(cuda held_32            vectors          vectors_of_group  f32,f16,bf16  nhwc       lanes:32,held:8   shared:516,registers:72,conflicts:1.0,sectors:1.0     backward=0 aligned=1 pixels=1 group_elements<=1024)
row(cuda held_256           vectors          vectors_of_group  f32,f16,bf16  nhwc       lanes:256,held:8  shared:3204,registers:72,conflicts:1.0,sectors:1.0     backward=0 aligned=1 pixels=1 group_elements<=8192)
row(gpu  rows               runs             warp_a_group      f32,f16,bf16  nhwc       -         shared:3616,registers:56,conflicts:1.05,sectors:1.2   backward=0 few_pixels)
row(cuda few_vectors        vectors          vectors_of_group  f32,f16,bf16  nhwc       lanes:64,short:1  shared:900,registers:48,conflicts:1.0,sectors:2.0     backward=0 aligned=1 group_elements<=8192)
row(cuda vectors            vectors          vectors_of_group  f32,f16,bf16  nhwc       -         shared:3204,registers:48,conflicts:1.0,sectors:1.05   backward=0 aligned=1 group_elements<=32768)
row(gpu  block              runs             block_a_group     f32,f16,bf16  nhwc       -         shared:3204,registers:56,conflicts:1.0,sectors:3.0    backward=0 channels_per_group>=8 group_elements<=32768)
row(gpu  parts              parts            threads_of_parts  f32,f16,bf16  nhwc       -         shared:2184,registers:96,conflicts:1.0,sectors:1.3    backward=0 pixels>=8)
row(cuda few_vectors        vectors          vectors_of_group  f32,f16,bf16  nchw       lanes:64,short:1  shared:900,registers:48,conflicts:1.0,sectors:1.0     backward=0 aligned=1 group_elements<=8192)
row(cuda parts              parts            threads_of_parts  f32           nchw       -         shared:2184,registers:96,conflicts:1.0,sectors:1.0     backward=0 aligned=1 all_groups<=33 group_elements>=65536)
row(cuda parts              parts            threads_of_parts  f16,bf16      nchw       -         shared:2184,registers:96,conflicts:1.0,sectors:1.0     backward=0 aligned=1 all_groups<=66 group_elements>=65536)
row(cuda vectors            vectors          vectors_of_group  f32,f16,bf16  nchw       -         shared:3204,registers:48,conflicts:1.0,sectors:1.0    backward=0 aligned=1)
row(gpu  block              planes           block_a_group     f32,f16,bf16  nchw       -         shared:3204,registers:48,conflicts:1.0,sectors:1.3    backward=0)
row(gpu  unstaged           runs             unstaged          f32,f16,bf16  nhwc,nchw  -         shared:0,registers:48,sectors:1.7                     backward=0)
row(gpu  gradient_rows      groups           block_of_rows     f32,f16,bf16  nhwc       -         shared:4096,registers:80,conflicts:1.05,sectors:1.05  backward=1 few_pixels)
row(cuda gradient_vectors   groups           block_of_a_group  f32,f16,bf16  nhwc       vector:4  shared:10752,registers:72,conflicts:1.0,sectors:1.95  backward=1 aligned=1 channels_per_group<=256 group_elements<=32768)
row(gpu  gradient_groups    groups           block_of_a_group  f32,f16,bf16  nhwc,nchw  -         shared:4352,registers:56,conflicts:1.0,sectors:2.0    backward=1 channels_per_group<=256 group_elements<=32768)
row(gpu  gradient_parts     parts_of_pixels  block_of_parts    f32,f16,bf16  nhwc       -         shared:2176,registers:56,conflicts:1.0,sectors:1.05  backward=1)
row(gpu  gradient           images           block_a_channel   f32,f16,bf16  nchw       -         shared:3072,registers:64,conflicts:1.0,sectors:1.05  backward=1)
row(gpu  gradient_unstaged  images           unstaged          f32,f16,bf16  nhwc,nchw  -         shared:0,registers:64,sectors:2.5                     backward=1)
