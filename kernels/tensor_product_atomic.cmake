# The tensor product on a GPU, by atomic additions. A ladder, in the tiles' channels and pairs; any: 512 floats of the
# weight, 32 channels of the output by 16 of the input. Budgets are what was measured, registers rounded up to a
# multiple of 8.
kernel_family(tensor_product_atomic LIBRARY tensor_product FIELDS tensor_product/fields.def)

#        row       algorithm  schedule  types  layouts  knobs                                                  budget                                                        where
row(gpu  wide      tiles      staged    f32    any      tile_k:64,threads_k:16,tile_x:128,threads_x:16,stage:1 shared:13056,registers:128,conflicts:1.05,sectors:3.05,fma:0.75   m>=33)
row(gpu  any       tiles      staged    f32    any      tile_k:32,threads_k:8,tile_x:256,threads_x:16,stage:1  shared:20480,registers:168,conflicts:1.1,sectors:3.4,fma:0.7)
row(gpu  unstaged  tiles      unstaged  f32    any      -                                                      shared:0,registers:32,sectors:2.5)
