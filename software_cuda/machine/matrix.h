// Handlers of instructions on matrices, which all lanes of a warp execute together.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

HOT double power_of_two(uint64_t biased_exponent) {
    return __builtin_bit_cast(double, biased_exponent << 52);
}

// Rounded towards zero; infinite from 2^128 on.
HOT float cut_to_float(double x) {
    const float near = static_cast<float>(x);
    const double magnitude = __builtin_fabs(x);
    const bool beyond =
        __builtin_fabs(static_cast<double>(near)) > magnitude && magnitude < 0x1p128;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, near) - beyond);
}

// Adds products to a row of C, as tensor cores do (Fasi, Higham, Mikaitis, Pranesh: Numerical
// behavior of NVIDIA tensor cores): all summands are cut off where the 24 bits of the largest end,
// and added without an error. Products and sums of these are exact in double.
template<uint32_t count>
HOT void add_products(const double *a, const double (*b)[8], double *c) {
    double summands[count + 1][8], largest[8], total[8];
    for (uint32_t j = 0; j < 8; j++) {
        summands[count][j] = total[j] = c[j];
        largest[j] = __builtin_fabs(c[j]);
    }
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t j = 0; j < 8; j++) {
            const double product = a[k] * b[k][j], magnitude = __builtin_fabs(product);
            summands[k][j] = product;
            total[j] += product;
            largest[j] = magnitude > largest[j] ? magnitude : largest[j];
        }
    }
    double unit[8], units_of_one[8];
    int32_t units[8] = {};
    for (uint32_t j = 0; j < 8; j++) {
        // What is added keeps the exponent of zeros in range, and is far below the least that is
        // not zero: 2^-272, a product of two of TF32.
        const uint64_t exponent = __builtin_bit_cast(uint64_t, largest[j] + 0x1p-400) >> 52;
        unit[j] = power_of_two(exponent - 23);
        units_of_one[j] = power_of_two(2 * 1023 + 23 - exponent);
    }
    for (uint32_t k = 0; k <= count; k++) {
        for (uint32_t j = 0; j < 8; j++) {
            const bool finite = __builtin_fabs(total[j]) <= std::numeric_limits<double>::max();
            units[j] += static_cast<int32_t>(finite ? summands[k][j] * units_of_one[j] : 0.0);
        }
    }
    for (uint32_t j = 0; j < 8; j++) {
        const bool finite = __builtin_fabs(total[j]) <= std::numeric_limits<double>::max();
        const double sum = finite ? units[j] * unit[j] : total[j];
        c[j] = static_cast<double>(cut_to_float(sum));
    }
}

// As multiply_lines, for operands of any magnitude.
template<uint32_t step, MatrixElement type>
[[gnu::noinline]] void multiply_any(LineOperands<type> &m) {
    constexpr uint32_t depth = LineOperands<type>::kDepth;
    alignas(64) double a[kLines][depth], b[depth][8];
    for (uint32_t k = 0; k < depth; k++) {
        for (uint32_t line = 0; line < kLines; line++)
            a[line][k] = static_cast<double>(m.a[k].floats[line]);
        for (uint32_t column = 0; column < 8; column++)
            b[k][column] = static_cast<double>(m.b_at(k, column));
    }
    for (uint32_t line = 0; line < kLines; line++) {
        double c[8];
        for (uint32_t column = 0; column < 8; column++)
            c[column] = static_cast<double>(m.c[column].floats[line]);
        for (uint32_t k = 0; k < depth; k += step) add_products<step>(a[line] + k, b + k, c);
        for (uint32_t column = 0; column < 8; column++)
            m.c[column].words[line] = f32::put(static_cast<float>(c[column]));
    }
}

template<MatrixElement type, uint32_t step>
void multiply_floats(Frame &frame, const Instruction &i, const MatrixProduct &product) {
    LineOperands<type> m(frame, product);
    if (!multiply_lines<step>(m)) multiply_any<step>(m);
    m.put(frame, i.d);
}

void run_matrix_product(Frame &frame, const Instruction &i, uint32_t) {
    using enum MatrixElement;
    const MatrixProduct &product = frame.block->program->products[i.target];
    const bool signed_b = product.b_type == kS8;
    switch (product.a_type) {
        case kF16:
            return multiply_floats<kF16, 8>(frame, i, product);
        case kBf16:
            return multiply_floats<kBf16, 8>(frame, i, product);
        case kTf32:
            return multiply_floats<kTf32, 4>(frame, i, product);
        case kS8:
            return signed_b ? multiply_integers<kS8, kS8>(frame, i, product)
                            : multiply_integers<kS8, kU8>(frame, i, product);
        case kU8:
            return signed_b ? multiply_integers<kU8, kS8>(frame, i, product)
                            : multiply_integers<kU8, kU8>(frame, i, product);
    }
}

// Section "ldmatrix": eight lanes have the addresses of a matrix's rows.
void run_load_matrix(Frame &frame, const Instruction &i, uint32_t) {
    const uint32_t lanes = kAll >> (kLanes - 8 * i.matrices);
    Place place;
    find_place(frame, i, lanes, place);
    if (place.lanes != lanes) return;  // a fault has ended the launch
    for (uint32_t matrix = 0; matrix < i.matrices; matrix++) {
        uint16_t elements[8][8];
        for (uint32_t line = 0; line < 8; line++)
            __builtin_memcpy(elements[line], place.host + place.at[8 * matrix + line], 16);
        auto *const d = row<uint32_t>(frame, i.d[matrix]);
        for (uint32_t l = 0; l < kLanes; l++) {
            const uint32_t line = l / 4, column = l % 4 * 2;
            const uint32_t low = i.transposed ? elements[column][line] : elements[line][column];
            const uint32_t high =
                i.transposed ? elements[column + 1][line] : elements[line][column + 1];
            d[l] = high << 16 | low;
        }
    }
}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
