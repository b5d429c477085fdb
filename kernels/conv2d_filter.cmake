# What packs filters for conv2d's rows.
kernel_family(conv2d_filter LIBRARY conv2d)

row(cpu  any  vectors  along_rows  f32,f16,bf16  nhwc,nchw  -)
