// A program of another project: one dot product of quantised numbers.

#include <cstdio>

#include "hk/error.h"
#include "hk/quantized_conv2d.h"

int main() {
    hk::Tensor pixel({1, 1, 1, 8}, hk::DataType::u8), filter({1, 1, 1, 8}, hk::DataType::s8);
    for (int i = 0; i < 8; i++) {
        pixel.data<uint8_t>()[i] = static_cast<uint8_t>(128 + i);
        filter.data<int8_t>()[i] = static_cast<int8_t>(i - 4);
    }
    // The sum of i * (i - 4) is 28; times 0.5 * 0.25 / 0.5 it is 7.
    const hk::QuantizedTensor output = hk::quantized_conv2d({pixel, {0.5f, 128}}, {filter, {0.25f}},
                                                            {}, hk::DataType::u8, {0.5f, 10});
    if (output.values.data<uint8_t>()[0] != 17) {
        std::printf("%d, not 17\n", output.values.data<uint8_t>()[0]);
        return 1;
    }
    try {
        hk::quantized_conv2d({pixel, {0.5f, 300}}, {filter, {0.25f}});
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
