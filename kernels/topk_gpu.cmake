# The table's part of the GPU steps of a top-k; runtime/src/topk/gpu_plan.h says what runs when. Types: u8
# stands for all of 8 bits, …, u64 for all of 64. indices: whether items have them.

set(HK_FIXED_FIELDS_topk_tiles indices)
set(HK_FIXED_FIELDS_topk_merge indices)
kernel_family(topk_tiles KEYS LIBRARY topk USES topk)
kernel_family(topk_merge KEYS LIBRARY topk USES topk)
kernel_family(topk_unpack KEYS LIBRARY topk USES topk)

# A ladder: a tile's items in shared memory, fewer of them, or eight in a thread's registers. Of the columns
# of a short row a small tile sorts all, with a quarter of the threads. Budgets are what was measured,
# registers rounded up to a multiple of 8.
set(gpu DEVICES cuda opencl)
set(types TYPES u8 u16 u32 u64)
set(items_1 indices)
set(items_0 keys)
set(budget_1 "shared:13824,registers:80" "shared:3456,registers:72" "shared:0,registers:64")
set(budget_0 "shared:9216,registers:56" "shared:2304,registers:56" "shared:0,registers:56")
foreach(indices 1 0)
    list(GET budget_${indices} 0 large)
    list(GET budget_${indices} 1 small)
    list(GET budget_${indices} 2 none)
    set(bitonic ALGORITHM bitonic ${types} ${gpu})
    set(of ${items_${indices}})
    kernel(topk_tiles tile_1024_${of} ${bitonic} SCHEDULE gpu KNOBS tile:1024 BUDGET ${large}
        WHERE indices=${indices} columns>=257)
    kernel(topk_tiles tile_256_${of} ${bitonic} SCHEDULE gpu KNOBS tile:256 BUDGET ${small}
        WHERE indices=${indices})
    kernel(topk_tiles unstaged_${of} ${bitonic} SCHEDULE gpu_unstaged KNOBS tile:8 BUDGET ${none}
        WHERE indices=${indices})
    kernel(topk_merge ${of} ALGORITHM merge_path SCHEDULE gpu_unstaged TYPES u32 u64 ${gpu}
        BUDGET shared:0,registers:32 WHERE indices=${indices})
endforeach()
kernel(topk_unpack values ALGORITHM values SCHEDULE gpu_unstaged ${types} ${gpu}
    BUDGET shared:0,registers:32 WHERE indices=0)
kernel(topk_unpack indices ALGORITHM indices SCHEDULE gpu_unstaged TYPES u32 ${gpu}
    BUDGET shared:0,registers:32 WHERE indices=1)
