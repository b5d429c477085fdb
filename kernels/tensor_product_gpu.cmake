# The table's part of the tensor product on a GPU; kernels/tensor_product.cmake includes it.

kernel_family(tensor_product_stationary LIBRARY tensor_product)
kernel_family(tensor_product_atomic LIBRARY tensor_product USES tensor_product_stationary)

# Ladders, in the tiles' channels and rows or pairs. Budgets are what was measured, registers rounded up to a
# multiple of 8; f64 takes twice the shared bytes.
set(slots ALGORITHM slots DEVICES cuda opencl)
set(few KNOBS tile_k:32,threads_k:8)
set(small KNOBS tile_k:32,threads_k:8,tile_x:32,threads_x:8,tile_c:8)
set(f32 ${slots} TYPES f32 f16 bf16)
set(f64 ${slots} TYPES f64)
kernel(tensor_product_stationary few ${f32} SCHEDULE gpu ${few} BUDGET shared:6656,registers:80 WHERE m<=32)
kernel(tensor_product_stationary few ${f64} SCHEDULE gpu ${few} BUDGET shared:13312,registers:128 WHERE m<=32)
kernel(tensor_product_stationary any ${f32} SCHEDULE gpu BUDGET shared:8704,registers:80)
kernel(tensor_product_stationary any ${f64} SCHEDULE gpu BUDGET shared:17408,registers:128)
kernel(tensor_product_stationary small ${f32} SCHEDULE gpu ${small} BUDGET shared:2304,registers:80)
kernel(tensor_product_stationary small ${f64} SCHEDULE gpu ${small} BUDGET shared:4608,registers:128)
kernel(tensor_product_stationary unstaged ${f32} SCHEDULE gpu_unstaged BUDGET shared:0,registers:40)
kernel(tensor_product_stationary unstaged ${f64} SCHEDULE gpu_unstaged BUDGET shared:0,registers:48)

# any: 512 floats of the weight, 32 channels of the output by 16 of the input.
set(tiles ALGORITHM tiles TYPES f32 DEVICES cuda opencl)
kernel(tensor_product_atomic large ${tiles} SCHEDULE gpu KNOBS tile_k:64,threads_k:16,tile_x:64,threads_x:16,stage:1
    BUDGET shared:8704,registers:56 WHERE m>=128 c>=128)
kernel(tensor_product_atomic any ${tiles} SCHEDULE gpu BUDGET shared:2048,registers:48)
kernel(tensor_product_atomic unstaged ${tiles} SCHEDULE gpu_unstaged BUDGET shared:0,registers:32)

# The gradient of the weight: as the ladders above.
set(offsets ALGORITHM offsets DEVICES cuda opencl)
kernel(tensor_product_backward_weight staged ${offsets} SCHEDULE gpu TYPES f32 f16 bf16 BUDGET shared:8704,registers:56)
kernel(tensor_product_backward_weight staged ${offsets} SCHEDULE gpu TYPES f64 BUDGET shared:17408,registers:72)
kernel(tensor_product_backward_weight small ${offsets} SCHEDULE gpu ${small} TYPES f32 f16 bf16
    BUDGET shared:2304,registers:48)
kernel(tensor_product_backward_weight small ${offsets} SCHEDULE gpu ${small} TYPES f64 BUDGET shared:4608,registers:72)
kernel(tensor_product_backward_weight unstaged ${offsets} SCHEDULE gpu_unstaged ${types} BUDGET shared:0,registers:32)
