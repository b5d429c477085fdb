# The table's part of the tensor product; kernels.cmake includes it.

set(HK_FIXED_FIELDS_tensor_product vectors adjacent)
kernel_family(tensor_product)

# GFLOP/s of a thread, C = M = 16, 32, 64: in blocks of 1 vector 64, of 2 80, of 4 95 (bench --family tensor_product,
# "hk kept maps").
set(types TYPES f32 f16 bf16 f64)
foreach(vectors 4 2 1)
    kernel(tensor_product wide${vectors} ALGORITHM tiles SCHEDULE cpu ${types} DEVICES cpu
        WHERE vectors=${vectors} adjacent=1)
endforeach()
kernel(tensor_product any ALGORITHM tiles SCHEDULE cpu ${types} DEVICES cpu)

# The gradient of the weight. Where the last block of channels is not whole, and of 16 bits an element, chunks are
# copied first, which costs a tenth (bench --family tensor_product_backward_weight --filter 64-64, with --row wide4).
set(HK_FIXED_FIELDS_tensor_product_backward_weight vectors adjacent exact)
kernel_family(tensor_product_backward_weight LIBRARY tensor_product)
set(slices ALGORITHM slices SCHEDULE cpu DEVICES cpu)
set(exact_4 TYPES f32 f64)
set(exact_2 TYPES f32 f64)
set(exact_1 TYPES f32)
foreach(vectors 4 2 1)
    kernel(tensor_product_backward_weight wide${vectors}_exact ${slices} ${exact_${vectors}}
        WHERE vectors=${vectors} adjacent=1 exact=1)
    kernel(tensor_product_backward_weight wide${vectors} ${slices} ${types} WHERE vectors=${vectors} adjacent=1)
endforeach()
kernel(tensor_product_backward_weight any ${slices} ${types})

include(kernels/tensor_product_gpu.cmake)
