# A type stands for all types of its width. Rows of a few elements are sorted many at a time; one by one they take
# longer, with a threshold longer still. bench --family topk --list FILE.csv, microseconds a row of 1000 floats, k 5,
# and of 2000, k 16: columns 0.65, 1.6; chunks 0.86, 1.75; any 2.0, 4.5.
kernel_family(topk KEYS FIELDS topk/fields.def)

term(for_columns adjacent=1 rows>=8 vectors>=16 k<=32 candidates<=512)

#        row              algorithm  schedule       types           layouts  knobs    where
row(cpu  short_both       sort       rows_in_cache  u8,u16,u32,u64  any      rows:64  values=1 indices=1 rows>=8 columns<=32)
row(cpu  sort_both        sort       rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=1 rest<=0)
row(cpu  columns_both     columns    rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=1 for_columns)
row(cpu  chunks_both      chunks     rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=1 adjacent=1 vectors_per_k>=1)
row(cpu  any_both         whole      rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=1)
row(cpu  short_values     sort       rows_in_cache  u8,u16,u32,u64  any      rows:64  values=1 indices=0 rows>=8 columns<=32)
row(cpu  sort_values      sort       rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=0 rest<=0)
row(cpu  columns_values   columns    rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=0 for_columns)
row(cpu  chunks_values    chunks     rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=0 adjacent=1 vectors_per_k>=1)
row(cpu  any_values       whole      rows_in_cache  u8,u16,u32,u64  any      -        values=1 indices=0)
row(cpu  short_indices    sort       rows_in_cache  u8,u16,u32,u64  any      rows:64  values=0 indices=1 rows>=8 columns<=32)
row(cpu  sort_indices     sort       rows_in_cache  u8,u16,u32,u64  any      -        values=0 indices=1 rest<=0)
row(cpu  columns_indices  columns    rows_in_cache  u8,u16,u32,u64  any      -        values=0 indices=1 for_columns)
row(cpu  chunks_indices   chunks     rows_in_cache  u8,u16,u32,u64  any      -        values=0 indices=1 adjacent=1 vectors_per_k>=1)
row(cpu  any_indices      whole      rows_in_cache  u8,u16,u32,u64  any      -        values=0 indices=1)
