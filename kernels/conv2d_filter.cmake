# What packs filters for conv2d's rows. Callers name the algorithm that they want.
kernel_family(conv2d_filter LIBRARY conv2d)

row(cpu  any       vectors   along_rows  f32,f16,bf16  nhwc,nchw  -)
row(amx  slices    slices    along_rows  bf16          nhwc       -  never_selected)
row(amx  windows   slices_of_windows  along_rows  bf16  nhwc      -  never_selected)
row(cpu  winograd  winograd  along_rows  f32           nhwc,nchw  -  never_selected)
