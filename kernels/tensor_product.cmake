# GFLOP/s of a thread, C = M = 16, 32, 64: in blocks of 1 vector 64, of 2 80, of 4 95 (bench --family tensor_product,
# "hk kept maps").
kernel_family(tensor_product FIELDS tensor_product/fields.def)

#        row    algorithm  schedule        types             layouts  knobs  where
row(cpu  wide4  tiles      register_tiles  f32,f16,bf16,f64  any      -      vectors=4 adjacent=1)
row(cpu  wide2  tiles      register_tiles  f32,f16,bf16,f64  any      -      vectors=2 adjacent=1)
row(cpu  wide1  tiles      register_tiles  f32,f16,bf16,f64  any      -      vectors=1 adjacent=1)
row(cpu  any    tiles      register_tiles  f32,f16,bf16,f64  any      -)
