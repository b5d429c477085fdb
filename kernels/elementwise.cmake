# The table's part of kernels that work element by element; kernels.cmake includes it. adjacent: elements of a
# run lie next to each other in all tensors; packed: and there is one run.

set(HK_FIXED_FIELDS_activate adjacent packed)
set(HK_FIXED_FIELDS_activate_backward adjacent packed)
set(HK_FIXED_FIELDS_sgd adjacent packed)
kernel_family(activate LIBRARY activation)
kernel_family(activate_backward LIBRARY activation)
kernel_family(sgd)

set(types TYPES f32 f16 bf16)
set(on_cpu SCHEDULE cpu ${types} DEVICES cpu)
foreach(family activate activate_backward)
    kernel(${family} adjacent ALGORITHM elementwise ${on_cpu} WHERE adjacent=1)
    kernel(${family} any ALGORITHM elementwise ${on_cpu})
endforeach()
foreach(algorithm momentum plain)
    set(has_plain 0)
    set(has_momentum 1)
    kernel(sgd ${algorithm}_adjacent ALGORITHM ${algorithm} ${on_cpu} WHERE momentum=${has_${algorithm}} adjacent=1)
    kernel(sgd ${algorithm} ALGORITHM ${algorithm} ${on_cpu} WHERE momentum=${has_${algorithm}})
endforeach()
