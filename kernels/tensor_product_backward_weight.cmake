# The gradient of a tensor product's weight.
kernel_family(tensor_product_backward_weight LIBRARY tensor_product FIELDS tensor_product/fields.def)

# Where the last block of channels is not whole, and of 16 bits an element, chunks are copied first, which costs a tenth
# (bench --family tensor_product_backward_weight --filter 64-64, with --row wide4).
#        row          algorithm  schedule        types             layouts  knobs  where
row(cpu  wide4_exact  slices     register_tiles  f32,f64           any      -      vectors=4 adjacent=1 exact=1)
row(cpu  wide4        slices     register_tiles  f32,f16,bf16,f64  any      -      vectors=4 adjacent=1)
row(cpu  wide2_exact  slices     register_tiles  f32,f64           any      -      vectors=2 adjacent=1 exact=1)
row(cpu  wide2        slices     register_tiles  f32,f16,bf16,f64  any      -      vectors=2 adjacent=1)
row(cpu  wide1_exact  slices     register_tiles  f32               any      -      vectors=1 adjacent=1 exact=1)
row(cpu  wide1        slices     register_tiles  f32,f16,bf16,f64  any      -      vectors=1 adjacent=1)
row(cpu  any          slices     register_tiles  f32,f16,bf16,f64  any      -)

# Products of matrices on tensor cores: whole vectors of 16 bytes, whichever lie next to each other in the gradient.
term(vectors aligned=1 c>=8 m>=8 c%8=0 m%8=0)
# Of f32.
term(short_vectors aligned=1 c>=4 m>=4 c%4=0 m%4=0)

# GPU: ladders as those of tensor_product_stationary. matrices: tensor cores, by tiles of m and c; of the voxels of a cloud
# at least 7, 17 and 44 us by the model of an H100 for 16, 64 and 128 channels (explain tensor_product_backward_weight
# --voxels 100000 --count). vectors: of f32, copies in stages and up to 64 sums a thread, by tiles of m and c too: what a
# tile has beyond the last channel is computed as well.
#        row          algorithm          schedule  types             layouts  knobs                                                 budget                                                         where
row(cuda matrices_32  products           matrices  f16,bf16          any      tile_m:32,tile_c:32,warps_m:1,warps_c:1               shared:16384,registers:104,conflicts:1.0,sectors:1.1           vectors c<=32 m<=32)
row(cuda matrices_64  products           matrices  f16,bf16          any      -                                                     shared:32768,registers:104,conflicts:1.0,sectors:1.1,fma:0.15  vectors c<=64)
row(cuda matrices     products           matrices  f16,bf16          any      tile_m:128,tile_c:128,warps_m:4,warps_c:2             shared:65536,registers:128,conflicts:1.0,sectors:1.1           vectors)
row(cuda vectors_16   offsets_in_vectors staged    f32               any      tile_k:16,tile_x:16,threads_k:4,threads_x:8           shared:7680,registers:80,conflicts:1.15,sectors:1.35,fma:0.55  short_vectors c<=16 m<=16)
row(cuda vectors_32   offsets_in_vectors staged    f32               any      tile_k:32,tile_x:32,threads_k:4,threads_x:8           shared:13824,registers:104,conflicts:1.0,sectors:1.1,fma:0.75  short_vectors c<=32 m<=32)
row(cuda vectors_64   offsets_in_vectors staged    f32               any      tile_x:32,threads_k:8,threads_x:4,tile_c:8            shared:9984,registers:136,conflicts:1.0,sectors:1.25,fma:0.75  short_vectors c<=32)
row(cuda vectors      offsets_in_vectors staged    f32               any      threads_k:8,threads_x:8                               shared:26112,registers:136,conflicts:1.0,sectors:1.6,fma:0.85  short_vectors)
row(gpu  staged       offsets            staged    f32,f16,bf16      any      -                                                     shared:8704,registers:64,conflicts:1.0,sectors:1.2,fma:0.5)
row(gpu  staged       offsets            staged    f64               any      -                                                     shared:17408,registers:128,conflicts:1.5,sectors:1.2,fma:0.45)
row(gpu  small        offsets            staged    f32,f16,bf16      any      tile_k:32,threads_k:8,tile_x:32,threads_x:8,tile_c:8  shared:2304,registers:64,conflicts:1.0,sectors:1.35,fma:0.3)
row(gpu  small        offsets            staged    f64               any      tile_k:32,threads_k:8,tile_x:32,threads_x:8,tile_c:8  shared:4608,registers:128,conflicts:1.45,sectors:1.3,fma:0.3)
row(gpu  unstaged     offsets            unstaged  f32,f16,bf16,f64  any      -                                                     shared:0,registers:32,sectors:1.55)
