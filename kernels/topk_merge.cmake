# A step of a top-k on a GPU, as topk_tiles.
kernel_family(topk_merge KEYS LIBRARY topk FIELDS topk/step_fields.def)

#        row      algorithm   schedule         types    layouts  knobs  budget                             where
row(gpu  indices  merge_path  thread_per_item  u32,u64  any      -      shared:0,registers:32,sectors:1.2  indices=1)
row(gpu  keys     merge_path  thread_per_item  u32,u64  any      -      shared:0,registers:32,sectors:1.2  indices=0)
