# The gradient of a convolution's bias.
kernel_family(conv2d_backward_bias LIBRARY conv2d_backward FIELDS convolution/fields.def)

# GPU: of nchw lanes pass through shared memory, on a device without it through another kernel.
row(cpu  any       partial_sums  parallel_parts   f32,f16,bf16  nhwc,nchw  -)
row(gpu  any       partial_sums  block_per_part   f32,f16,bf16  nhwc       -  shared:0,registers:40,sectors:1.2)
row(gpu  any       partial_sums  block_per_part   f32,f16,bf16  nchw       -  shared:264,registers:40,conflicts:1.0,sectors:1.7)
row(gpu  unstaged  partial_sums  thread_per_part  f32,f16,bf16  nchw       -  shared:0,registers:40)
