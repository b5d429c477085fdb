# The tensor product on a GPU, by atomic additions. A ladder, in the tiles' channels and pairs. Budgets are what was
# measured, registers rounded up to a multiple of 8.
kernel_family(tensor_product_atomic LIBRARY tensor_product FIELDS tensor_product/fields.def)

# f32, whole vectors of 16 bytes.
term(short_vectors aligned=1 c>=4 m>=4 c%4=0 m%4=0)

#        row       algorithm         schedule  types  layouts  knobs                               budget                                                          where
row(gpu  large     tiles             staged    f32    any      tile_k:64,threads_k:16,threads_x:8  shared:13056,registers:128,conflicts:1.0,sectors:1.4,fma:0.8   m>=128 c>=128)
row(gpu  vectors   tiles_of_vectors  staged    f32    any      -                                   shared:2048,registers:104,conflicts:1.0,sectors:1.9,fma:0.75    short_vectors)
row(gpu  any       tiles             staged    f32    any      threads_x:8,tile_c:8                shared:5504,registers:112,conflicts:1.0,sectors:2.95,fma:0.75)
row(gpu  unstaged  tiles             unstaged  f32    any      -                                   shared:0,registers:32,sectors:2.5)
