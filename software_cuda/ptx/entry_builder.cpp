#include "software_cuda/ptx/entry_builder.h"

#include <algorithm>

namespace software_cuda {

Width width_of(Type type) {
    if (type == Type::pred) return Width::kPredicate;
    const bool wide =
        type == Type::u64 || type == Type::s64 || type == Type::b64 || type == Type::f64;
    return wide ? Width::kWide : Width::kNarrow;
}

uint32_t EntryBuilder::add_value(Width width) {
    values_.push_back({width});
    return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t EntryBuilder::uniform(const UniformRow &row) {
    const uint32_t value = add_value(row.width);
    program_->uniform_rows.push_back(row);
    program_->uniform_rows.back().place = program_->uniform_bytes;
    values_[value].place = kUniform | program_->uniform_bytes;
    program_->uniform_bytes += 8 * kLanes;
    return value;
}

uint32_t EntryBuilder::constant(Width width, uint64_t bits) {
    if (width == Width::kNarrow) bits = static_cast<uint32_t>(bits);
    if (width == Width::kPredicate) bits = bits ? ~0u : 0;
    const auto [found, is_new] = constants_.try_emplace({width, bits}, 0);
    if (is_new)
        found->second = uniform({.kind = UniformRow::kConstant, .width = width, .value = bits});
    return found->second;
}

uint32_t EntryBuilder::parameter(Width width, uint32_t offset, uint32_t bytes, bool is_signed) {
    return uniform({.kind = UniformRow::kParameter,
                    .width = width,
                    .is_signed = is_signed,
                    .bytes = static_cast<uint8_t>(bytes),
                    .value = offset});
}

uint32_t EntryBuilder::special(std::string_view name) {
    static const std::map<std::string_view, UniformRow::Kind> kinds{
        {"%laneid", UniformRow::kLaneId},    {"%ctaid.x", UniformRow::kBlockX},
        {"%ctaid.y", UniformRow::kBlockY},   {"%ctaid.z", UniformRow::kBlockZ},
        {"%ntid.x", UniformRow::kThreadsX},  {"%ntid.y", UniformRow::kThreadsY},
        {"%ntid.z", UniformRow::kThreadsZ},  {"%nctaid.x", UniformRow::kBlocksX},
        {"%nctaid.y", UniformRow::kBlocksY}, {"%nctaid.z", UniformRow::kBlocksZ}};
    if (name == "WARP_SZ") return constant(Width::kNarrow, kLanes);
    if (const auto known = specials_.find(name); known != specials_.end()) return known->second;
    uint32_t value = kNone;
    if (const auto kind = kinds.find(name); kind != kinds.end()) {
        value = uniform({.kind = kind->second});
    } else if (name == "%tid.x" || name == "%tid.y" || name == "%tid.z") {
        value = add_value(Width::kNarrow);
        values_[value].pinned = true;
        program_->thread_rows[name.back() - 'x'] = value;
    } else {
        return kNone;
    }
    specials_.emplace(name, value);
    return value;
}

void EntryBuilder::add_product(Instruction instruction, const MatrixProduct &product) {
    instruction.target = static_cast<uint32_t>(program_->products.size());
    program_->products.push_back(product);
    add(instruction);
}

void EntryBuilder::add_copy(Instruction instruction, const AsyncCopy &copy) {
    instruction.target = static_cast<uint32_t>(program_->copies.size());
    program_->copies.push_back(copy);
    add(instruction);
}

void EntryBuilder::add_branch(const Instruction &instruction, std::string label) {
    branches_.emplace_back(program_->code.size(), std::move(label));
    add(instruction);
}

bool EntryBuilder::add_label(std::string_view label) {
    return labels_.emplace(label, static_cast<uint32_t>(program_->code.size())).second;
}

void EntryBuilder::split_into_blocks(const std::string &entry) {
    auto &code = program_->code;
    std::vector<bool> begins(code.size() + 1);
    begins[0] = true;
    for (const auto &[at, label] : branches_) {
        const auto target = labels_.find(label);
        if (target == labels_.end()) {
            throw ModuleError(ModuleError::kInvalidPtx, "line " + std::to_string(code[at].line) +
                                                            ": entry " + entry + " has no label " +
                                                            label);
        }
        code[at].target = target->second;
        begins[target->second] = true;
    }
    for (size_t at = 0; at < code.size(); at++) {
        if (code[at].op >= Op::shuffle) begins[at + 1] = true;
        if (code[at].op >= Op::shuffle && code[at].op < Op::nothing) begins[at] = true;
    }
    std::vector<uint32_t> block_at(code.size() + 1);
    for (uint32_t at = 0; at < code.size(); at++) {
        if (begins[at]) program_->blocks.push_back({at, at});
        block_at[at] = static_cast<uint32_t>(program_->blocks.size() - 1);
        program_->blocks.back().end = at + 1;
    }
    for (const auto &[at, label] : branches_) code[at].target = block_at[code[at].target];
}

void EntryBuilder::finish(Entry &entry, Lines text) {
    auto &code = program_->code;
    // A label may stand at the very end.
    add({.op = Op::exit,
         .kind = InstructionClass::kBranch,
         .line = code.empty() ? 0 : code.back().line});
    split_into_blocks(entry.name);
    for (Instruction &i : code) {
        if (is_load(i) || i.op == Op::store || i.op == Op::atomic) i.site = program_->sites++;
    }
    for (AsyncCopy &copy : program_->copies) {
        copy.load.site = program_->sites++;
        copy.store.site = program_->sites++;
    }
    entry.registers = allocate_rows(*program_, values_);
    program_->entry = entry.name;
    program_->text = std::move(text);
    entry.program = std::move(program_);
}

}  // namespace software_cuda
