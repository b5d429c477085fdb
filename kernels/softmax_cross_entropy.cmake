kernel_family(softmax_cross_entropy FIELDS softmax_cross_entropy/fields.def)

# few: 64 rows of 10, 16 and 32 classes 3.3, 2.1 and 1.2 times as fast as rows (explorer run softmax_cross_entropy
# input=64x10 --row rows; Xeon, family 6, model 207).
# rows keeps the powers of a row, 1 MB at most, in the second cache; long makes them again for the gradient, and needs no
# memory for them. With a gradient rows is 1.4 times as fast for 128000 classes (explorer run softmax_cross_entropy
# input=1x128000 --knobs keep:0), as fast for 256000 of f32, and 0.6 to 0.75 times for 1000000 (input=1x1000000 --knobs
# keep:1; Xeon, family 6, model 167).
#        row   algorithm  schedule        types         layouts  knobs   where
row(cpu  few   powers     vector_of_rows  f32,f16,bf16  any      -       classes<=32)
row(cpu  rows  powers     vector_per_row  f32,f16,bf16  any      -       classes<=262144)
row(cpu  long  powers     vector_per_row  f32,f16,bf16  any      keep:0)

# GPU: a block of threads a row, a warp of them for short ones; last a thread a row, which stages nothing. Budgets are
# what was measured, registers rounded up to a multiple of 8.
#        row       algorithm  schedule        types         layouts  knobs     budget                                               where
row(gpu  block     rows       block_per_row   f32,f16,bf16  any      -         shared:2176,registers:32,conflicts:1.4,sectors:1.25  classes>=257)
row(gpu  warp      rows       block_per_row   f32,f16,bf16  any      lanes:32  shared:272,registers:32,conflicts:1.0,sectors:1.25)
row(gpu  unstaged  rows       thread_per_row  f32,f16,bf16  any      -         shared:0,registers:32,sectors:8.9)
