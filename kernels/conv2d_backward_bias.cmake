# The gradient of a convolution's bias.
kernel_family(conv2d_backward_bias LIBRARY conv2d_backward FIELDS convolution/fields.def)

row(cpu  any       partial_sums  parallel_parts   f32,f16,bf16  nhwc,nchw  -)
row(gpu  unstaged  partial_sums  thread_per_part  f32,f16,bf16  nhwc,nchw  -  shared:0,registers:40,sectors:3.45)
