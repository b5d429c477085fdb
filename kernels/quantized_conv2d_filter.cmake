# What packs filters for quantized_conv2d's rows. u8 stands for s8.
kernel_family(quantized_conv2d_filter LIBRARY quantized_conv2d USES conv2d)

row(cpu  any  words  along_rows  u8  nhwc,nchw  -)
