# adjacent: elements of a run lie next to each other in all tensors; packed: and there is one run. Budgets are what was
# measured, registers rounded up to a multiple of 8.
kernel_family(activate LIBRARY activation FIELDS elementwise/fields.def)

#        row       algorithm    schedule  types         layouts  knobs  where
row(cpu  adjacent  elementwise  chunks    f32,f16,bf16  any      -      adjacent=1)
row(cpu  any       elementwise  chunks    f32,f16,bf16  any      -)

#         row      algorithm    schedule            types         layouts  knobs  budget                              where
row(cuda  aligned  elementwise  thread_per_vector   f32,f16,bf16  any      -      shared:0,registers:32,sectors:1.0   packed=1 aligned=1)
row(gpu   packed   elementwise  thread_per_element  f32,f16,bf16  any      -      shared:0,registers:24,sectors:1.0   packed=1)
row(gpu   any      elementwise  thread_per_element  f32,f16,bf16  any      -      shared:0,registers:24,sectors:1.0)
