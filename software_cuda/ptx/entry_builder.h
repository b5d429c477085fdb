// Collects the instructions of an entry, whose operands are numbers of values, and lays the values
// out in rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "software_cuda/ptx/module.h"
#include "software_cuda/ptx/program.h"

namespace software_cuda {

// A register, or a row that all warps share.
struct Value {
    Width width;
    uint32_t place = kNone;
    bool pinned = false;  // holds what no instruction defines
};

// What an instruction reads and defines. A guarded definition keeps the value of the other threads.
template<typename Use>
void each_use(const Program &program, const Instruction &i, Use use) {
    const auto note = [&](uint32_t v) {
        if (v != kNone) use(v);
    };
    for (const uint32_t v : {i.guard, i.a, i.b, i.c, i.members}) note(v);
    if (i.op == Op::store) {
        for (const uint32_t v : i.d) note(v);
    }
    if (i.op == Op::matrix_product) {
        const MatrixProduct &product = program.products[i.target];
        for (const uint32_t v : product.a) note(v);
        for (const uint32_t v : product.b) note(v);
        for (const uint32_t v : product.c) note(v);
    }
}
template<typename Define>
void each_definition(const Instruction &i, Define define) {
    if (i.op == Op::store) return;
    for (const uint32_t v : i.d) {
        if (v != kNone) define(v);
    }
}

class EntryBuilder {
public:
    uint32_t add_value(Width width);
    uint32_t constant(Width width, uint64_t value);
    uint32_t parameter(Width width, uint32_t offset, uint32_t bytes, bool is_signed);
    // kNone for a name that is none of a special register.
    uint32_t special(std::string_view name);
    Width width(uint32_t value) const { return values_[value].width; }

    void add(const Instruction &instruction) { program_->code.push_back(instruction); }
    void add_product(Instruction instruction, const MatrixProduct &product);
    void add_copy(Instruction instruction, const AsyncCopy &copy);
    void add_branch(const Instruction &instruction, std::string label);
    // False where it is there already.
    bool add_label(std::string_view label);

    // Jumps find their labels, and values their rows. Throws ModuleError.
    void finish(Entry &entry, Lines text);

private:
    uint32_t uniform(const UniformRow &row);
    void split_into_blocks(const std::string &entry);

    std::shared_ptr<Program> program_ = std::make_shared<Program>();
    std::vector<Value> values_;
    std::map<std::pair<Width, uint64_t>, uint32_t> constants_;
    std::map<std::string, uint32_t, std::less<>> specials_, labels_;
    std::vector<std::pair<size_t, std::string>> branches_;
};

// Gives each value of a program a place, one for values that never live at the same time, and sets
// its operands and sizes. Returns the number of 32-bit registers that live at once, at most.
uint32_t allocate_rows(Program &program, std::vector<Value> &values);

}  // namespace software_cuda
