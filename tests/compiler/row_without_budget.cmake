# A row with a GPU and this BUDGET.
include(${SOURCE_DIR}/cmake/AddKernel.cmake)
kernel(family row_x ALGORITHM a SCHEDULE gpu TYPES f32 LAYOUTS nhwc DEVICES cpu opencl BUDGET ${BUDGET})
