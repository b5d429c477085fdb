# A step of a top-k on a GPU; runtime/src/topk/gpu_plan.h says what runs when. Types: u8 stands for all of 8 bits, …,
# u64 for all of 64. indices: whether items have them.
kernel_family(topk_tiles KEYS LIBRARY topk FIELDS topk/step_fields.def)

# best_8, best_64, best_256: of a tile's items all but so many are dropped on the way, where no more are wanted, so that
# fewer rounds sort all of them (schedules/topk/gpu/tiles.cpp).
# A ladder: a tile's items in shared memory, fewer of them, or eight in a thread's registers. Of the columns of a short
# row a small tile sorts all, with a quarter of the threads. Budgets are what was measured, registers rounded up to a
# multiple of 8.
#        row                algorithm  schedule  types           layouts  knobs               budget                                                  where
row(gpu  best_8_indices     bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:8    shared:20736,registers:72,conflicts:1.15,sectors:1.75   indices=1 columns>=257 k<=8)
row(gpu  best_64_indices    bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:64   shared:20736,registers:72,conflicts:1.15,sectors:1.75   indices=1 columns>=257 k<=64)
row(gpu  best_256_indices   bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:256  shared:20736,registers:72,conflicts:1.3,sectors:1.8    indices=1 columns>=257 k<=256)
row(gpu  tile_1024_indices  bitonic    staged    u8,u16,u32,u64  any      tile:1024           shared:13824,registers:80,conflicts:1.3,sectors:1.8     indices=1 columns>=257)
row(gpu  tile_256_indices   bitonic    staged    u8,u16,u32,u64  any      tile:256            shared:3456,registers:72,conflicts:1.2,sectors:1.8      indices=1)
row(gpu  unstaged_indices   bitonic    unstaged  u8,u16,u32,u64  any      tile:8              shared:0,registers:64,sectors:2.4                       indices=1)
row(gpu  best_8_keys        bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:8    shared:13824,registers:64,conflicts:1.15,sectors:1.75   indices=0 columns>=257 k<=8)
row(gpu  best_64_keys       bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:64   shared:13824,registers:64,conflicts:1.15,sectors:1.75   indices=0 columns>=257 k<=64)
row(gpu  best_256_keys      bitonic    staged    u8,u16,u32,u64  any      tile:1024,keep:256  shared:13824,registers:64,conflicts:1.3,sectors:1.8    indices=0 columns>=257 k<=256)
row(gpu  tile_1024_keys     bitonic    staged    u8,u16,u32,u64  any      tile:1024           shared:9216,registers:56,conflicts:1.3,sectors:2.0      indices=0 columns>=257)
row(gpu  tile_256_keys      bitonic    staged    u8,u16,u32,u64  any      tile:256            shared:2304,registers:56,conflicts:1.2,sectors:1.8      indices=0)
row(gpu  unstaged_keys      bitonic    unstaged  u8,u16,u32,u64  any      tile:8              shared:0,registers:56,sectors:2.4                       indices=0)
