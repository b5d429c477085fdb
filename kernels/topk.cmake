# The table's part of top-k; kernels.cmake includes it. A type stands for all types of its width.

set(HK_FIXED_FIELDS_topk values indices adjacent)
kernel_family(topk KEYS)

set(types TYPES u8 u16 u32 u64)
foreach(outputs "both 1 1" "values 1 0" "indices 0 1")
    separate_arguments(outputs)
    list(POP_FRONT outputs name values indices)
    set(what ${types} DEVICES cpu WHERE values=${values} indices=${indices})
    # Rows of a few elements, many at a time; one by one they take longer, with a threshold longer still.
    kernel(topk short_${name} ALGORITHM sort SCHEDULE cpu KNOBS rows:64 ${what} rows>=8 columns<=32)
    kernel(topk sort_${name} ALGORITHM sort SCHEDULE cpu ${what} rest<=0)
    # bench --family topk --list FILE.csv, microseconds a row of 1000 floats, k 5, and of 2000, k 16:
    # columns 0.65, 1.6; chunks 0.86, 1.75; any 2.0, 4.5.
    kernel(topk columns_${name} ALGORITHM columns SCHEDULE cpu ${what} adjacent=1 rows>=8 vectors>=16 k<=32
        candidates<=512)
    kernel(topk chunks_${name} ALGORITHM chunks SCHEDULE cpu ${what} adjacent=1 vectors_per_k>=1)
    kernel(topk any_${name} ALGORITHM whole SCHEDULE cpu ${what})
endforeach()
