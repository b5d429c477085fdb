#include "tests/software_cuda/operand_values.h"

#include <cmath>
#include <random>

namespace software_cuda::tests {

namespace {

using Random = std::mt19937_64;

constexpr size_t kRandomOperands = 1024, kRandomTriples = 3072;

bool one_in(Random &random, unsigned n) { return random() % n == 0; }

std::vector<uint64_t> integer_edges(unsigned bits) {
    const uint64_t all = ~uint64_t{0} >> (64 - bits);
    std::vector<uint64_t> values{0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 8,
                                 9,
                                 15,
                                 16,
                                 17,
                                 24,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 65,
                                 127,
                                 128,
                                 255,
                                 256,
                                 2047,
                                 2048,
                                 2049,
                                 2051,
                                 65504,
                                 65519,
                                 65520,
                                 65521,
                                 0x8040,
                                 0xff80,
                                 0x01000001,
                                 0x01000003,
                                 0x02000002,
                                 0x02000006,
                                 0x80000080,
                                 0x80000180,
                                 0x7fffffbf,
                                 0x7fffffc0,
                                 0x0020000000000001,
                                 0x0020000000000003,
                                 0x0040000000000002,
                                 0x8000000000000400,
                                 0x8000000000000c00,
                                 0x7ffffffffffffdff,
                                 0x7fffffc000000000,
                                 0x5555555555555555,
                                 0xaaaaaaaaaaaaaaaa};
    for (size_t n = 0, size = values.size(); n < size; n++) values.push_back(~values[n]);
    for (const unsigned power : {bits - 1, bits / 2}) {
        for (const uint64_t near : {~uint64_t{0}, uint64_t{0}, uint64_t{1}})
            values.push_back((uint64_t{1} << power) + near);
    }
    for (uint64_t &value : values) value &= all;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

std::vector<uint64_t> float_edges(const Format &format) {
    const uint64_t one = encoded(format, exact_integer(1)), infinity = format.infinity(),
                   normal = uint64_t{1} << format.fraction_bits;
    std::vector<uint64_t> values{0,
                                 1,
                                 2,
                                 normal - 1,
                                 normal,
                                 normal + 1,
                                 infinity,
                                 infinity - 1,
                                 infinity + 1,
                                 one - 1,
                                 one,
                                 one + 1,
                                 infinity | normal >> 1,
                                 infinity | normal >> 1 | 5,
                                 format.sign() - 1};
    // Integers where types end, with what is next to them, and halves.
    for (const int power : {-149, -126, -25, -24, -14, -1, 0,  1,  7,   8,   11,
                            15,   16,   24,  31,  32,  53, 63, 64, 126, 127, 1023}) {
        for (const int tenths : {10, 15, 25, 35}) {
            Exact value{.mantissa = tenths / 5, .exponent = power - 1};
            const uint64_t bits = encoded(format, value);
            if (bits >= infinity || bits == 0) continue;
            values.push_back(bits);
            if (tenths == 10) values.insert(values.end(), {bits - 1, bits + 1});
        }
    }
    for (const int number : {65504, 65519, 65520, 65535, 127, 255, 32767, 100, 355}) {
        const uint64_t bits = encoded(format, exact_integer(number));
        if (bits < infinity) values.insert(values.end(), {bits, bits + 1});
    }
    for (size_t n = 0, size = values.size(); n < size; n++)
        values.push_back(values[n] | format.sign());
    return values;
}

uint64_t random_integer(Random &random, unsigned bits) {
    // As many short ones as long ones, and some that end as halfway cases do.
    uint64_t value = random() >> random() % 64;
    if (one_in(random, 4)) value = ((value << 1 | 1) << random() % 40);
    if (one_in(random, 2)) value = ~value;
    return value & (~uint64_t{0} >> (64 - bits));
}

uint64_t random_float(Random &random, const Format &format) {
    const uint64_t mask = 2 * format.sign() - 1;
    uint64_t bits = random() & mask;
    if (one_in(random, 2)) {
        const auto exponent =
            static_cast<uint64_t>(format.bias()) + random() % 24 - 12;  // numbers near 1
        bits = (bits & ~format.infinity()) | exponent << format.fraction_bits;
    }
    if (!one_in(random, 3)) return bits;
    // Halfway between two floats of a narrower format, or beside that.
    for (const Format *narrow : {&kF32, &kF16, &kBf16}) {
        const int dropped = format.fraction_bits - narrow->fraction_bits;
        if (dropped < 2 || !one_in(random, 2)) continue;
        const uint64_t half = uint64_t{1} << (dropped - 1);
        bits = ((bits & ~(2 * half - 1)) | half) + random() % 3 - 1;
        break;
    }
    return bits & mask;
}

// Values of one type.
class Source {
public:
    Source(std::string_view type, Random &random)
        : format_(float_format(type)), bits_(integer_type(type).bits), random_(random) {
        if (type == "pred")
            edges_ = {0, 1};
        else if (format_)
            edges_ = float_edges(*format_);
        else if (bits_)
            edges_ = integer_edges(bits_);
    }

    bool exists() const { return !edges_.empty(); }
    const Format *format() const { return format_; }
    const std::vector<uint64_t> &edges() const { return edges_; }
    uint64_t edge() const { return exists() ? edges_[random_() % edges_.size()] : 0; }
    uint64_t any() const {
        if (format_) return one_in(random_, 4) ? edge() : random_float(random_, *format_);
        if (bits_) return one_in(random_, 4) ? edge() : random_integer(random_, bits_);
        return edge();
    }

private:
    const Format *format_;
    unsigned bits_;
    Random &random_;
    std::vector<uint64_t> edges_;
};

// Nearly -x.
uint64_t opposite(Random &random, const Format &format, uint64_t x) {
    return (x ^ format.sign()) + random() % 5 - 2;
}

}  // namespace

std::vector<Operands> operand_values(std::string_view a, std::string_view b, std::string_view c) {
    Random random(1);
    const Source as(a, random), bs(b, random), cs(c, random);
    std::vector<Operands> result;
    if (!bs.exists()) {
        if (float_format(a) && float_format(a)->sign() < 1 << 16) {
            for (uint64_t bits = 0; bits < 1 << 16; bits++) result.push_back({bits});
            return result;
        }
        for (const uint64_t edge : as.edges()) result.push_back({edge});
        for (size_t n = 0; n < kRandomOperands; n++) result.push_back({as.any()});
        return result;
    }
    if (!cs.exists()) {
        for (const uint64_t edge : as.edges()) {
            result.push_back({edge, edge});
            for (size_t n = 0; n < 16; n++) result.push_back({edge, bs.edge()});
        }
    }
    for (size_t n = 0; n < (cs.exists() ? kRandomTriples : kRandomOperands); n++) {
        Operands o{as.any(), bs.any(), cs.any()};
        const Format *const format = as.format();
        if (format && bs.format() == format && one_in(random, 4)) {
            if (cs.format() == format)
                o.c = opposite(
                    random, *format,
                    encoded(*format, product(decoded(*format, o.a), decoded(*format, o.b))));
            else
                o.b = opposite(random, *format, o.a);
        }
        result.push_back(o);
    }
    return result;
}

}  // namespace software_cuda::tests
