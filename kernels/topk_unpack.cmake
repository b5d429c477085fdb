# The last step of a top-k on a GPU, as topk_tiles.
kernel_family(topk_unpack KEYS LIBRARY topk FIELDS topk/result_fields.def)

# Sectors: rows of values of 8 bits begin anywhere in one.
#        row      algorithm  schedule            types           layouts  knobs  budget                             where
row(gpu  values   values     thread_per_element  u8,u16,u32,u64  any      -      shared:0,registers:32,sectors:2.5  indices=0)
row(gpu  indices  indices    thread_per_element  u32             any      -      shared:0,registers:32,sectors:1.0  indices=1)
