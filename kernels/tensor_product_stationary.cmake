# The tensor product on a GPU. A ladder, in the tiles' channels and rows. Budgets are what was measured, registers
# rounded up to a multiple of 8; f64 takes twice the shared bytes.
kernel_family(tensor_product_stationary LIBRARY tensor_product FIELDS tensor_product/fields.def)

# Products of matrices on tensor cores: whole vectors of 16 bytes. Sums over the channels are cut off at each of 9
# summands of a step, 8 terms and the sum before: 448 steps are within the error that hk/tensor_product.h promises.
term(vectors aligned=1 c>=8 m>=8 c%8=0 m%8=0)
term(few_steps c<=3584)

# Tiles of pairs: f32, whole vectors of 16 bytes.
term(short_vectors aligned=1 c>=4 m>=4 c%4=0 m%4=0)

#         row                      algorithm            schedule  types         layouts  knobs                                                 budget                                                         where
row(cuda  matrices_32              products             matrices  f16,bf16      any      tile_m:32,warps_m:1                                   shared:6144,registers:152,conflicts:1.0,sectors:1.1            vectors few_steps m<=32 transposed=0)
row(cuda  matrices_32_transposed   products_transposed  matrices  f16,bf16      any      tile_m:32,warps_m:1                                   shared:6144,registers:152,conflicts:1.0,sectors:1.1            vectors few_steps m<=32 transposed=1)
row(cuda  matrices_128             products             matrices  f16,bf16      any      tile_m:128                                            shared:12288,registers:240,conflicts:1.0,sectors:1.1           vectors few_steps m>=128 transposed=0)
row(cuda  matrices_128_transposed  products_transposed  matrices  f16,bf16      any      tile_m:128                                            shared:12288,registers:240,conflicts:1.0,sectors:1.1           vectors few_steps m>=128 transposed=1)
row(cuda  matrices                 products             matrices  f16,bf16      any      -                                                     shared:8192,registers:152,conflicts:1.0,sectors:1.3            vectors few_steps transposed=0)
row(cuda  matrices_transposed      products_transposed  matrices  f16,bf16      any      -                                                     shared:8192,registers:160,conflicts:1.0,sectors:1.1            vectors few_steps transposed=1)
row(cuda  tiles_16                 tiles                tiled     f32           any      tile_k:16,threads_k:4,rows:256                        shared:19200,registers:168,conflicts:1.1,sectors:1.6,fma:0.65  short_vectors m<=16 transposed=0)
row(cuda  tiles_16_transposed      tiles_transposed     tiled     f32           any      tile_k:16,threads_k:4,rows:256                        shared:19200,registers:168,conflicts:1.1,sectors:1.6,fma:0.65  short_vectors m<=16 transposed=1)
row(cuda  tiles_32                 tiles                tiled     f32           any      tile_k:32,threads_k:8,threads_x:4,rows:256            shared:36096,registers:168,conflicts:1.1,sectors:1.2,fma:0.7   short_vectors m<=32 transposed=0)
row(cuda  tiles_32_transposed      tiles_transposed     tiled     f32           any      tile_k:32,threads_k:8,threads_x:4,rows:256            shared:36096,registers:168,conflicts:1.45,sectors:1.1,fma:0.7   short_vectors m<=32 transposed=1)
row(cuda  tiles                    tiles                tiled     f32           any      -                                                     shared:53504,registers:168,conflicts:1.15,sectors:1.1,fma:0.75 short_vectors transposed=0)
row(cuda  tiles_transposed         tiles_transposed     tiled     f32           any      -                                                     shared:53504,registers:168,conflicts:1.2,sectors:1.1,fma:0.75  short_vectors transposed=1)
row(gpu   few                      slots                staged    f32,f16,bf16  any      tile_k:32,threads_k:8                                 shared:6656,registers:104,conflicts:1.1,sectors:1.3,fma:0.7    m<=32)
row(gpu   few                      slots                staged    f64           any      tile_k:32,threads_k:8                                 shared:13312,registers:168,conflicts:1.65,sectors:1.3,fma:0.7  m<=32)
row(gpu   any                      slots                staged    f32,f16,bf16  any      threads_x:8                                           shared:8704,registers:168,conflicts:1.15,sectors:2.15,fma:0.75)
row(gpu   any                      slots                staged    f64           any      -                                                     shared:17408,registers:168,conflicts:1.6,sectors:1.95,fma:0.7)
row(gpu   small                    slots                staged    f32,f16,bf16  any      tile_k:32,threads_k:8,tile_x:32,threads_x:8,tile_c:8  shared:2304,registers:104,conflicts:1.0,sectors:2.3,fma:0.65)
row(gpu   small                    slots                staged    f64           any      tile_k:32,threads_k:8,tile_x:32,threads_x:8,tile_c:8  shared:4608,registers:168,conflicts:1.5,sectors:2.2,fma:0.65)
row(gpu   unstaged                 slots                unstaged  f32,f16,bf16  any      -                                                     shared:0,registers:56,sectors:2.3)
row(gpu   unstaged                 slots                unstaged  f64           any      -                                                     shared:0,registers:64,sectors:2.2)
