# The tensor product on a GPU, by atomic additions. A ladder, in the tiles' channels and pairs; any: 512 floats of the
# weight, 32 channels of the output by 16 of the input. Budgets are what was measured, registers rounded up to a
# multiple of 8.
kernel_family(tensor_product_atomic LIBRARY tensor_product FIELDS tensor_product/fields.def)

#        row       algorithm  schedule  types  layouts  knobs                                                  budget                                                        where
row(gpu  large     tiles      staged    f32    any      tile_k:64,threads_k:16,tile_x:128,threads_x:16,stage:1 shared:12800,registers:128,conflicts:1.05,sectors:1.4,fma:0.75  m>=128 c>=128)
row(gpu  any       tiles      staged    f32    any      -                                                      shared:2048,registers:64,conflicts:1.0,sectors:3.2,fma:0.35)
row(gpu  unstaged  tiles      unstaged  f32    any      -                                                      shared:0,registers:32,sectors:2.5)
