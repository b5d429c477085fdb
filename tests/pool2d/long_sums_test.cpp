// Sums of any length keep an error that does not grow with it (generators/long_sum.h): averages of
// windows of many pixels, and gradients of pixels that many windows hold.

#include "tests/kernels/long_sums.h"
#include "hk/pool2d.h"
#include "tests/kernels/family.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// Of the sum, which hk/pool2d.h promises of such rows.
const double kBound = std::ldexp(1, -14);

struct Image {
    int64_t height, width;

    int64_t pixels() const { return height * width; }
    static int64_t channels(Layout layout) { return layout == Layout::nhwc ? 5 : 1; }
    Shape shape(Layout layout) const {
        return layout == Layout::nhwc ? Shape{1, height, width, channels(layout)}
                                      : Shape{1, channels(layout), height, width};
    }
};

// What gradients have of it is no subnormal number of f16, nor beyond its largest.
constexpr double kScale = 10;

std::vector<double> values_of(DataType type, Layout layout) {
    std::vector<double> values;
    for (int64_t c = 0; c < Image::channels(layout); c++)
        values.push_back(reference::rounded(type, kScale * value(type, c)));
    return values;
}

// An image whose channels have values of their own. Columns have to lie next to each other.
struct Channels {
    Channels(DataType type, Layout layout, const Image &image)
        : shape_(image.shape(layout)), one_(pixels(type, layout, image)) {}

    Tensor on(Device device) const { return repeated_on(one_, shape_, device); }

private:
    static Tensor pixels(DataType type, Layout layout, const Image &image) {
        const Image some{1, layout == Layout::nhwc ? 1 : image.width};
        std::vector<double> values;
        for (const double of_channel : values_of(type, layout))
            values.insert(values.end(), static_cast<size_t>(some.width), of_channel);
        return host_tensor(some.shape(layout), type, values);
    }

    Shape shape_;
    Tensor one_;
};

class LongPools : public testing::TestWithParam<KernelInfo> {
protected:
    const KernelInfo &row = GetParam();
    const bool is_cpu = row.device == DeviceType::cpu;

    std::string name_for(const Image &image) const {
        return std::string(row.name) + ", " + hk::to_string(image.shape(row.layout));
    }

    // Its gradient's maxima are in the middle, or everywhere.
    Tensor image_with_a_peak(const Image &image) const {
        const int64_t channels = Image::channels(row.layout), middle = image.pixels() / 2;
        std::vector<double> values(static_cast<size_t>(image.pixels() * channels), 0);
        for (int64_t c = 0; c < channels; c++)
            values[row.layout == Layout::nhwc ? middle * channels + c
                                              : c * image.pixels() + middle] = 1;
        return host_tensor(image.shape(row.layout), row.type, values);
    }
};

class LongAverages : public LongPools {};
TEST_P(LongAverages, KeepTheirDigits) {
    std::vector<Image> images = {{1, 300001}, {300001, 1}, {20000, 30}, {257, 129}};
    if (!is_cpu) images = {{1, 33333}, {33333, 1}, {182, 182}};
    const std::vector<double> wanted = values_of(row.type, row.layout);
    for (const Device device : devices_of(row.device)) {
        for (const Image &image : images) {
            const Channels channels(row.type, row.layout, image);
            const Tensor input = channels.on(device);
            Pool2dOptions options{row.layout, Pooling::average, {image.height, image.width}};
            expect_near(name_for(image), pool2d(input, options), wanted,
                        kBound + half_ulp(row.type));
            // Windows that reach over the edges; their pixels are fewer.
            options.padding = {image.height / 2, 0, image.width / 2, 0};
            options.stride = {image.height, image.width};
            expect_near(name_for(image) + ", padded", pool2d(input, options), wanted,
                        kBound + half_ulp(row.type));
        }
    }
}

// All windows of a line hold its middle pixel.
class LongPoolGradients : public LongPools {
protected:
    struct Line {
        Image kernel, windows, image;
    };

    std::vector<Line> lines() const {
        const int64_t size = is_cpu ? 8209 : 301;
        const Line across = {{1, size}, {1, size}, {1, 2 * size - 1}};
        const Line down = {{size, 1}, {size, 1}, {2 * size - 1, 1}};
        if (row.type == DataType::f32) return {across, down};
        return {row.type == DataType::f16 ? across : down};
    }

    Tensor gradient(const Line &line, Pooling pooling, Device device) const {
        const Channels channels(row.type, row.layout, line.windows);
        const Tensor windows = channels.on(device);
        Tensor input, output;
        if (pooling == Pooling::max) {
            input = image_with_a_peak(line.image).to(device);
            output = Tensor(line.windows.shape(row.layout), row.type, device);
            pool2d(input, output, options(line, pooling));
        }
        Tensor result(line.image.shape(row.layout), row.type, device);
        pool2d_backward_with(row, windows, input, output, result, options(line, pooling));
        return result;
    }

    Pool2dOptions options(const Line &line, Pooling pooling) const {
        return {row.layout, pooling, {line.kernel.height, line.kernel.width}, {1, 1}};
    }

    // `of_pixel`: what a pixel gets of its channel's value.
    template<typename OfPixel>
    std::vector<double> wanted(const Line &line, const OfPixel &of_pixel) const {
        std::vector<double> values;
        const std::vector<double> of_channel = values_of(row.type, row.layout);
        const bool nhwc = row.layout == Layout::nhwc;
        const size_t pixels = static_cast<size_t>(line.image.pixels()),
                     channels = of_channel.size();
        for (size_t i = 0; i < pixels * channels; i++)
            values.push_back(of_channel[nhwc ? i % channels : i / pixels] *
                             of_pixel(static_cast<int64_t>(nhwc ? i / channels : i % pixels)));
        return values;
    }
};

class LongGradientsOfAverages : public LongPoolGradients {};
TEST_P(LongGradientsOfAverages, KeepTheirDigits) {
    for (const Device device : devices_of(row.device)) {
        for (const Line &line : lines()) {
            const auto size = static_cast<double>(line.kernel.pixels());
            expect_near(name_for(line.image), gradient(line, Pooling::average, device),
                        wanted(line,
                               [&](int64_t pixel) {
                                   const auto at = static_cast<double>(pixel);
                                   return std::min(at + 1, 2 * size - 1 - at) / size;
                               }),
                        kBound + half_ulp(row.type));
        }
    }
}

class LongGradientsOfMaxima : public LongPoolGradients {};
TEST_P(LongGradientsOfMaxima, KeepTheirDigits) {
    for (const Device device : devices_of(row.device)) {
        for (const Line &line : lines()) {
            const int64_t size = line.kernel.pixels();
            expect_near(name_for(line.image), gradient(line, Pooling::max, device),
                        wanted(line,
                               [&](int64_t pixel) {
                                   return pixel == size - 1 ? static_cast<double>(size) : 0;
                               }),
                        kBound + half_ulp(row.type));
        }
    }
}

std::vector<KernelInfo> long_rows(std::span<const KernelInfo> rows, std::string_view algorithm) {
    std::vector<KernelInfo> result;
    for (const KernelInfo &row : rows)
        if (row.algorithm == algorithm) result.push_back(row);
    return result;
}

INSTANTIATE_TEST_SUITE_P(Table, LongAverages,
                         testing::ValuesIn(long_rows(pool2d_kernels(), "average_in_blocks")),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, LongGradientsOfAverages,
                         testing::ValuesIn(long_rows(pool2d_backward_kernels(),
                                                     "average_in_blocks")),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, LongGradientsOfMaxima,
                         testing::ValuesIn(long_rows(pool2d_backward_kernels(), "max_in_blocks")),
                         parameter_name);

}  // namespace
}  // namespace hk::test
