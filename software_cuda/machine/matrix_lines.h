// Products of matrices: lanes of the host's vectors are lines of A and C.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

constexpr uint32_t kVector = SOFTWARE_CUDA_VECTOR;  // words of the host's vectors
constexpr uint32_t kLines = 16;
using Floats [[gnu::vector_size(4 * kVector)]] = float;
using Words [[gnu::vector_size(4 * kVector)]] = int32_t;
using WrappingWords [[gnu::vector_size(4 * kVector)]] = uint32_t;
using Quad [[gnu::vector_size(16)]] = uint32_t;

// A number for every line.
union Lines {
    uint32_t words[kLines];
    float floats[kLines];
};

template<typename V>
HOT V vector_at(const void *from) {
    V vector;
    __builtin_memcpy(&vector, from, sizeof vector);
    return vector;
}
HOT Words bits_of(Floats x) { return __builtin_bit_cast(Words, x); }
HOT Floats floats_of(Words x) { return __builtin_bit_cast(Floats, x); }

template<MatrixElement type>
HOT auto matrix_element(uint32_t word, uint32_t n) {
    if constexpr (type == MatrixElement::kF16)
        return f16::get(word >> 16 * n & 0xffff);
    else if constexpr (type == MatrixElement::kBf16)
        return bf16::get(word >> 16 * n & 0xffff);
    else if constexpr (type == MatrixElement::kTf32)
        return f32::get(word & ~0x1fffu);
    else if constexpr (type == MatrixElement::kS8)
        return int32_t{s8::get(word >> 8 * n)};
    else
        return int32_t{u8::get(word >> 8 * n)};
}

// Four words of four lines, as words of each.
HOT void transpose(const uint32_t *from, uint32_t step_from, uint32_t *to, uint32_t step_to) {
    Quad lines[4], pairs[4];
    for (uint32_t n = 0; n < 4; n++) lines[n] = vector_at<Quad>(from + n * step_from);
    for (uint32_t n = 0; n < 2; n++) {
        pairs[n] = __builtin_shuffle(lines[2 * n], lines[2 * n + 1], Quad{0, 4, 1, 5});
        pairs[2 + n] = __builtin_shuffle(lines[2 * n], lines[2 * n + 1], Quad{2, 6, 3, 7});
    }
    for (uint32_t n = 0; n < 4; n++) {
        const Quad pick = n % 2 == 0 ? Quad{0, 1, 4, 5} : Quad{2, 3, 6, 7};
        const Quad words = __builtin_shuffle(pairs[n / 2 * 2], pairs[n / 2 * 2 + 1], pick);
        __builtin_memcpy(to + n * step_to, &words, sizeof words);
    }
}

// Registers of A, C and D have four lanes a line: `upper` is that of lines 0 to 7, `lower` that of
// the others. Of each quarter the words of all lines.
HOT void lines_of(const uint32_t *upper, const uint32_t *lower, Lines (&quarters)[4]) {
    for (uint32_t line = 0; line < kLines; line += 4)
        transpose((line < 8 ? upper : lower) + 4 * (line % 8), 4, &quarters[0].words[line], kLines);
}
HOT void put_lines(const Lines (&quarters)[4], uint32_t *upper, uint32_t *lower) {
    for (uint32_t line = 0; line < kLines; line += 4)
        transpose(&quarters[0].words[line], kLines, (line < 8 ? upper : lower) + 4 * (line % 8), 4);
}

// The elements that registers hold at place n.
template<MatrixElement type, uint32_t count>
HOT void elements_at(const uint32_t *words, uint32_t n, float *elements) {
    uint32_t from[count];
    float to[count];
    __builtin_memcpy(from, words, sizeof from);
#pragma GCC unroll 1  // or it is no vector code
    for (uint32_t l = 0; l < count; l++)
        to[l] = static_cast<float>(matrix_element<type>(from[l], n));
    __builtin_memcpy(elements, to, sizeof to);
}

// Columns of A, lines of B as they lie in their registers, columns of C.
template<MatrixElement a_type, MatrixElement b_type = a_type>
struct LineOperands {
    static constexpr uint32_t kElements = elements_of(a_type), kDepth = 8 * kElements;
    alignas(64) Lines a[kDepth];
    alignas(64) float b[2][kElements][kLanes];
    alignas(64) Lines c[8];

    HOT LineOperands(const Frame &frame, const MatrixProduct &product) {
        const auto words = [&](uint32_t operand)
                               HOT_LAMBDA { return row<const uint32_t>(frame, operand); };
        Lines quarters[4];
        for (uint32_t side = 0; side < 2; side++) {
            lines_of(words(product.a[2 * side]), words(product.a[2 * side + 1]), quarters);
            for (uint32_t n = 0; n < kElements; n++) {
                for (uint32_t q = 0; q < 4; q++)
                    elements_at<a_type, kLines>(quarters[q].words, n,
                                                a[side * (kDepth / 2) + q * kElements + n].floats);
                elements_at<b_type, kLanes>(words(product.b[side]), n, b[side][n]);
            }
        }
        for (uint32_t odd = 0; odd < 2; odd++) {
            lines_of(words(product.c[odd]), words(product.c[2 + odd]), quarters);
            for (uint32_t q = 0; q < 4; q++) c[2 * q + odd] = quarters[q];
        }
    }

    HOT float b_at(uint32_t k, uint32_t column) const {
        const uint32_t in_side = k % (kDepth / 2);
        return b[k / (kDepth / 2)][in_side % kElements][4 * column + in_side / kElements];
    }
    // A's element of some lines times B's.
    HOT Floats product(uint32_t line, uint32_t k, uint32_t column) const {
        return vector_at<Floats>(a[k].floats + line) * b_at(k, column);
    }

    HOT void put(const Frame &frame, const std::array<uint32_t, 4> &registers) const {
        for (uint32_t odd = 0; odd < 2; odd++) {
            const Lines quarters[4] = {c[odd], c[2 + odd], c[4 + odd], c[6 + odd]};
            put_lines(quarters, row<uint32_t>(frame, registers[odd]),
                      row<uint32_t>(frame, registers[2 + odd]));
        }
    }
};

constexpr int32_t kMagnitude = 0x7fffffff;
constexpr int32_t bits_of_power(int exponent) { return (127 + exponent) << 23; }
// Operands are zeros or between the powers of these exponents, and C at most that of the last: then
// products, of 22 bits at most, and what is computed with them, are exact in f32.
constexpr int kLeastExponent = -30, kMostExponent = 30, kMostOfSum = 100;

// Whether all numbers are in range, as vectors one behind the other.
HOT bool in_range(const void *numbers, size_t bytes, int32_t least, int32_t most) {
    Words wrong = {};
    for (size_t at = 0; at < bytes; at += sizeof(Words)) {
        const auto *const from = static_cast<const uint8_t *>(numbers) + at;
        const Words magnitude = vector_at<Words>(from) & kMagnitude;
        wrong |= (magnitude > most) | ((magnitude < least) & (magnitude != 0));
    }
    int32_t any = 0;
    for (uint32_t l = 0; l < kVector; l++) any |= wrong[l];
    return !any;
}

HOT Words magnitude_of(Words x) { return x < 0 ? -x : x; }

// Adds products to a column of C, as tensor cores do (Fasi, Higham, Mikaitis, Pranesh: Numerical
// behavior of NVIDIA tensor cores): all summands are cut off where the 24 bits of the largest one
// end, and added without an error; the sum is cut off to f32.
template<uint32_t count>
HOT Floats add_products(const Floats (&products)[count], Floats c) {
    Words largest = bits_of(c) & kMagnitude;
    for (const Floats &product : products) {
        const Words magnitude = bits_of(product) & kMagnitude;
        largest = magnitude > largest ? magnitude : largest;
    }
    // Below the least product all products are zeros, and C is what it was, though +0.
    const Words no_product = largest < bits_of_power(2 * kLeastExponent);
    const Words exponent = (no_product ? largest * 0 + bits_of_power(0) : largest) >> 23;
    const Floats units_of_one = floats_of((2 * 127 + 23 - exponent) << 23),
                 unit = floats_of((exponent - 23) << 23);
    Words units = __builtin_convertvector(c * units_of_one, Words);
    for (const Floats &product : products)
        units += __builtin_convertvector(product * units_of_one, Words);
    const Floats near = __builtin_convertvector(units, Floats);
    // -1 where it was rounded away from zero.
    const Words beyond = magnitude_of(__builtin_convertvector(near, Words)) > magnitude_of(units);
    const Floats sum = floats_of(bits_of(near) + beyond) * unit;
    return no_product ? c + 0.0f : sum;
}

// To C; `step`: products that are added at once. False, with nothing done, where an operand is out
// of range, infinite or a NaN.
template<uint32_t step, MatrixElement type>
HOT bool multiply_lines(LineOperands<type> &m) {
    constexpr int32_t least = bits_of_power(kLeastExponent), most = bits_of_power(kMostExponent);
    if (!in_range(m.a, sizeof m.a, least, most) || !in_range(m.b, sizeof m.b, least, most) ||
        !in_range(m.c, sizeof m.c, 0, bits_of_power(kMostOfSum)))
        return false;
    for (uint32_t column = 0; column < 8; column++) {
        for (uint32_t line = 0; line < kLines; line += kVector) {
            float *const sums = m.c[column].floats + line;
            auto c = vector_at<Floats>(sums);
#pragma GCC unroll 4
            for (uint32_t first = 0; first < m.kDepth; first += step) {
                Floats products[step];
#pragma GCC unroll 8
                for (uint32_t k = 0; k < step; k++)
                    products[k] = m.product(line, first + k, column);
                c = add_products(products, c);
            }
            __builtin_memcpy(sums, &c, sizeof c);
        }
    }
    return true;
}

// Sums of 32 products of bytes are exact in f32.
template<MatrixElement a_type, MatrixElement b_type>
void multiply_integers(Frame &frame, const Instruction &i, const MatrixProduct &product) {
    LineOperands<a_type, b_type> m(frame, product);
    for (uint32_t column = 0; column < 8; column++) {
        for (uint32_t line = 0; line < kLines; line += kVector) {
            Floats sum = {};
#pragma GCC unroll 32
            for (uint32_t k = 0; k < m.kDepth; k++) sum += m.product(line, k, column);
            uint32_t *const sums = m.c[column].words + line;
            const Words of_products = __builtin_convertvector(sum, Words);
            const WrappingWords all =
                vector_at<WrappingWords>(sums) + __builtin_bit_cast(WrappingWords, of_products);
            __builtin_memcpy(sums, &all, sizeof all);
        }
    }
    m.put(frame, i.d);
}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
