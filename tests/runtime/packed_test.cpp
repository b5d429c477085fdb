#include "packed.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/pack.h"

namespace hk::detail {
namespace {

std::string round_trip(const std::string &text) {
    const std::string packed = compiler::pack(text);
    EXPECT_TRUE(is_packed(packed.c_str()));
    return unpack(packed.c_str()).value_or("damaged");
}

TEST(Packed, ComesBack) {
    std::mt19937 random(1);
    for (const size_t size : {0, 1, 4, 11, 12, 13, 17, 100, 1000, 100000, 300000}) {
        for (const unsigned letters : {1, 2, 20, 256}) {
            std::string text;
            while (text.size() < size) text += static_cast<char>(random() % letters);
            EXPECT_EQ(round_trip(text), text) << size << " " << letters;
        }
    }
    std::string program;
    for (int i = 0; i < 5000; i++) {
        program += "  int _" + std::to_string(i) + " = _" + std::to_string(i - 1) + " * 16;\n";
    }
    EXPECT_EQ(round_trip(program), program);
    EXPECT_LT(compiler::pack(program).size(), program.size() / 2);
}

TEST(Packed, DamageIsNoticed) {
    std::string program;
    for (int i = 0; i < 300; i++) program += "float _" + std::to_string(i) + ";\n";
    const std::string packed = compiler::pack(program);
    std::mt19937 random(2);
    for (int i = 0; i < 2000; i++) {
        std::string damaged = packed;
        damaged[kPackedHeader + random() % (packed.size() - kPackedHeader)] ^=
            static_cast<char>(1 + random() % 255);
        const auto text = unpack(damaged.c_str());  // no byte outside of the block is read
        EXPECT_TRUE(!text || text->size() == program.size());
    }
    std::string shorter = packed;
    shorter[8] = static_cast<char>(shorter[8] - 1);
    EXPECT_FALSE(unpack(shorter.c_str()));
}

TEST(Packed, PlainTextIsNotPacked) {
    EXPECT_FALSE(is_packed("/*OpenCL C*/"));
    EXPECT_FALSE(is_packed(""));
}

}  // namespace
}  // namespace hk::detail
