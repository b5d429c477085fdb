# The table's part of the tensor product; kernels.cmake includes it.

set(HK_FIXED_FIELDS_tensor_product vectors adjacent)
kernel_family(tensor_product)

# GFLOP/s of a thread over 830 thousand pairs of 27 offsets, C = M = 16, 32, 64: in blocks of 1 vector 69, of 2 83, of
# 4 91.
set(types TYPES f32 f16 bf16 f64)
foreach(vectors 4 2 1)
    kernel(tensor_product wide${vectors} ALGORITHM tiles SCHEDULE cpu ${types} DEVICES cpu
        WHERE vectors=${vectors} adjacent=1)
endforeach()
kernel(tensor_product any ALGORITHM tiles SCHEDULE cpu ${types} DEVICES cpu)
