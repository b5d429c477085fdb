# Elements, and budgets, as activate's.
kernel_family(sgd FIELDS elementwise/fields.def sgd/fields.def)

#        row                algorithm  schedule  types         layouts  knobs  where
row(cpu  momentum_adjacent  momentum   chunks    f32,f16,bf16  any      -      momentum=1 adjacent=1)
row(cpu  momentum           momentum   chunks    f32,f16,bf16  any      -      momentum=1)

#         row               algorithm  schedule            types         layouts  knobs  budget                             where
row(cuda  momentum_aligned  momentum   thread_per_vector   f32,f16,bf16  any      -      shared:0,registers:32,sectors:1.0  momentum=1 packed=1 aligned=1)
row(gpu   momentum_packed   momentum   thread_per_element  f32,f16,bf16  any      -      shared:0,registers:16,sectors:1.0  momentum=1 packed=1)
row(gpu   momentum          momentum   thread_per_element  f32,f16,bf16  any      -      shared:0,registers:24,sectors:1.0  momentum=1)

#        row             algorithm  schedule  types         layouts  knobs  where
row(cpu  plain_adjacent  plain      chunks    f32,f16,bf16  any      -      momentum=0 adjacent=1)
row(cpu  plain           plain      chunks    f32,f16,bf16  any      -      momentum=0)

#         row            algorithm  schedule            types         layouts  knobs  budget                             where
row(cuda  plain_aligned  plain      thread_per_vector   f32,f16,bf16  any      -      shared:0,registers:24,sectors:1.0  momentum=0 packed=1 aligned=1)
row(gpu   plain_packed   plain      thread_per_element  f32,f16,bf16  any      -      shared:0,registers:16,sectors:1.0  momentum=0 packed=1)
row(gpu   plain          plain      thread_per_element  f32,f16,bf16  any      -      shared:0,registers:24,sectors:1.0  momentum=0)
