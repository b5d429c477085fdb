// Instructions of integers, bits and predicates.
#include <algorithm>
#include <map>

#include "tests/software_cuda/ptx_reference.h"

namespace software_cuda::tests {

namespace {

using Wide = __int128;
using WideBits = unsigned __int128;
using Parts = std::vector<std::string>;
using Compute = std::function<WideBits(const Operands &)>;

uint64_t low(WideBits value, unsigned bits) {
    return static_cast<uint64_t>(bits >= 64 ? value : value & ((WideBits{1} << bits) - 1));
}

Wide number(uint64_t bits, IntegerType type) {
    const Wide value = static_cast<Wide>(low(bits, type.bits));
    return type.is_signed && value >> (type.bits - 1) ? value - (Wide{1} << type.bits) : value;
}

// Products of signed and unsigned numbers are the same modulo 2^128.
WideBits times(Wide a, Wide b) { return static_cast<WideBits>(a) * static_cast<WideBits>(b); }

Reference of_bits(unsigned bits, Compute compute) {
    return [=](const Operands &o) { return Wanted{.bits = low(compute(o), bits)}; };
}

Reference arithmetic(const Parts &parts, IntegerType t) {
    const std::string &name = parts[0];
    const auto with = [&](auto f) {
        return of_bits(t.bits, [=](const Operands &o) {
            return static_cast<WideBits>(f(number(o.a, t), number(o.b, t)));
        });
    };
    if (name == "add") return with([](Wide a, Wide b) { return a + b; });
    if (name == "sub") return with([](Wide a, Wide b) { return a - b; });
    if (name == "min") return with([](Wide a, Wide b) { return std::min(a, b); });
    if (name == "max") return with([](Wide a, Wide b) { return std::max(a, b); });
    if (name == "neg") return with([](Wide a, Wide) { return -a; });
    if (name == "abs") return with([](Wide a, Wide) { return a < 0 ? -a : a; });
    if (name == "sad") {
        return of_bits(t.bits, [=](const Operands &o) {
            const Wide a = number(o.a, t), b = number(o.b, t);
            return static_cast<WideBits>(number(o.c, t) + (a < b ? b - a : a - b));
        });
    }
    if (name == "div" || name == "rem") {
        return [=](const Operands &o) {
            const Wide a = number(o.a, t), b = number(o.b, t);
            if (b == 0) return Wanted{.kind = Wanted::kOpen};
            return Wanted{.bits =
                              low(static_cast<WideBits>(name == "div" ? a / b : a % b), t.bits)};
        };
    }
    return {};
}

// mul.lo, .hi and .wide, and mad.
Reference multiplication(const Parts &parts, IntegerType t) {
    const bool adds = parts[0] == "mad";
    const auto [part, bits] = std::map<std::string, std::pair<unsigned, unsigned>>{
        {"lo", {0, t.bits}},
        {"hi", {t.bits, t.bits}},
        {"wide", {0, 2 * t.bits}}}.at(parts[1]);
    return of_bits(bits, [=](const Operands &o) {
        const WideBits product = times(number(o.a, t), number(o.b, t)) >> part;
        return product + (adds ? o.c : 0);
    });
}

Reference logic(const Parts &parts, IntegerType t) {
    const std::string &name = parts[0];
    const auto with = [&](auto f) {
        return of_bits(t.bits, [=](const Operands &o) { return WideBits{f(o.a, o.b)}; });
    };
    if (name == "and") return with([](uint64_t a, uint64_t b) { return a & b; });
    if (name == "or") return with([](uint64_t a, uint64_t b) { return a | b; });
    if (name == "xor") return with([](uint64_t a, uint64_t b) { return a ^ b; });
    if (name == "not") return with([](uint64_t a, uint64_t) { return ~a; });
    if (name == "cnot") return with([](uint64_t a, uint64_t) { return uint64_t{a == 0}; });
    if (name == "mov" || name == "cvta") return with([](uint64_t a, uint64_t) { return a; });
    if (name == "selp")
        return of_bits(t.bits, [](const Operands &o) { return WideBits{o.c ? o.a : o.b}; });
    if (name == "shl" || name == "shr") {
        return of_bits(t.bits, [=](const Operands &o) {
            const uint64_t by = std::min<uint64_t>(low(o.b, 32), t.bits);
            const Wide a = number(o.a, t);
            return static_cast<WideBits>(name == "shl" ? a << by : a >> by);
        });
    }
    return {};
}

bool bit(uint64_t value, uint64_t n) { return value >> n & 1; }

// The field's pseudocode of section "bfe".
WideBits bit_field(const Operands &o, bool is_signed) {
    const uint64_t position = o.b & 0xff, length = o.c & 0xff, last = 31;
    const bool sign = is_signed && length != 0 && bit(o.a, std::min(position + length - 1, last));
    WideBits field = 0;
    for (uint64_t n = 0; n <= last; n++) {
        const bool inside = n < length && position + n <= last;
        field |= WideBits{inside ? bit(o.a, position + n) : sign} << n;
    }
    return field;
}

WideBits permuted(const Operands &o) {
    uint64_t result = 0;
    for (unsigned n = 0; n < 4; n++) {
        const uint64_t selector = o.c >> 4 * n & 0xf, index = selector & 7;
        uint64_t byte = (index < 4 ? o.a >> 8 * index : o.b >> 8 * (index - 4)) & 0xff;
        if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * n;
    }
    return result;
}

WideBits funnel(const Operands &o, bool left, bool wraps) {
    const uint64_t c = low(o.c, 32), n = wraps ? c & 31 : std::min<uint64_t>(c, 32);
    const WideBits a = low(o.a, 32), b = low(o.b, 32);
    return left ? b << n | a >> (32 - n) : b << (32 - n) | a >> n;
}

WideBits dot_product(const Operands &o, IntegerType a, IntegerType b) {
    Wide sum = static_cast<Wide>(o.c);
    for (unsigned n = 0; n < 4; n++)
        sum += number(o.a >> 8 * n, {8, a.is_signed}) * number(o.b >> 8 * n, {8, b.is_signed});
    return static_cast<WideBits>(sum);
}

uint64_t counted(uint64_t a, unsigned bits) {
    uint64_t count = 0;
    for (unsigned n = 0; n < bits; n++) count += bit(a, n);
    return count;
}

uint64_t leading_zeros(uint64_t a, unsigned bits) {
    uint64_t count = 0;
    while (count < bits && !bit(a, bits - 1 - count)) count++;
    return count;
}

uint64_t reversed(uint64_t a, unsigned bits) {
    uint64_t result = 0;
    for (unsigned n = 0; n < bits; n++) result |= uint64_t{bit(a, n)} << (bits - 1 - n);
    return result;
}

Reference bit_fiddling(const Parts &parts, IntegerType t) {
    const std::string &name = parts[0];
    if (name == "popc")
        return of_bits(32, [=](const Operands &o) { return WideBits{counted(o.a, t.bits)}; });
    if (name == "clz")
        return of_bits(32, [=](const Operands &o) { return WideBits{leading_zeros(o.a, t.bits)}; });
    if (name == "brev")
        return of_bits(t.bits, [=](const Operands &o) { return WideBits{reversed(o.a, t.bits)}; });
    if (name == "bfe")
        return of_bits(32, [=](const Operands &o) { return bit_field(o, t.is_signed); });
    if (name == "prmt") return of_bits(32, permuted);
    if (name == "shf")
        return of_bits(32, [left = parts[1] == "l", wraps = parts[2] == "wrap"](const Operands &o) {
            return funnel(o, left, wraps);
        });
    if (name == "dp4a")
        return of_bits(32, [a = integer_type(parts[1]), t](const Operands &o) {
            return dot_product(o, a, t);
        });
    return {};
}

// Halves of a register, as instructions.def names what mov does with vectors: (pack.b32).
Reference halves(const Parts &parts) {
    const unsigned half = parts[1] == "b64)" ? 32 : 16;
    if (parts[0] == "(pack")
        return of_bits(2 * half, [=](const Operands &o) {
            return WideBits{low(o.a, half) | low(o.b, half) << half};
        });
    const unsigned from = parts[0] == "(high" ? half : 0;
    return of_bits(half, [=](const Operands &o) { return WideBits{o.a >> from}; });
}

Reference comparison(const std::string &relation, IntegerType t) {
    using Relation = bool (*)(Wide, Wide);
    static const std::map<std::string, Relation> relations{{"eq", [](Wide a, Wide b) { return a == b; }},
                                                           {"ne", [](Wide a, Wide b) { return a != b; }},
                                                           {"lt", [](Wide a, Wide b) { return a < b; }},
                                                           {"le", [](Wide a, Wide b) { return a <= b; }},
                                                           {"gt", [](Wide a, Wide b) { return a > b; }},
                                                           {"ge", [](Wide a, Wide b) { return a >= b; }},
                                                           {"lo", [](Wide a, Wide b) { return a < b; }},
                                                           {"ls", [](Wide a, Wide b) { return a <= b; }},
                                                           {"hi", [](Wide a, Wide b) { return a > b; }},
                                                           {"hs", [](Wide a, Wide b) { return a >= b; }}};
    const auto found = relations.find(relation);
    if (found == relations.end()) return {};
    return of_bits(1, [t, compare = found->second](const Operands &o) {
        return WideBits{compare(number(o.a, t), number(o.b, t))};
    });
}

}  // namespace

Reference integer_reference(const Parts &parts) {
    if (parts[0].starts_with("(")) return halves(parts);
    const bool moves = parts[0] == "mov" || parts[0] == "selp";
    IntegerType type = integer_type(parts.back());
    if (moves && float_format(parts.back())) type = integer_type("b" + parts.back().substr(1));
    if (parts.back() == "pred") type = {1, false};
    if (type.bits == 0) return {};
    if (parts[0] == "setp") return parts.size() == 3 ? comparison(parts[1], type) : Reference();
    if (parts[0] == "cvt") {
        const IntegerType from = type, to = integer_type(parts[parts.size() - 2]);
        if (parts.size() != 3 || to.bits == 0) return {};
        return of_bits(to.bits,
                       [=](const Operands &o) { return static_cast<WideBits>(number(o.a, from)); });
    }
    if ((parts[0] == "mul" || parts[0] == "mad") && parts.size() == 3)
        return multiplication(parts, type);
    for (const auto &find : {arithmetic, logic, bit_fiddling}) {
        if (Reference found = find(parts, type)) return found;
    }
    return {};
}

}  // namespace software_cuda::tests
