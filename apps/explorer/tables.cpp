#include "tables.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "hk/error.h"

namespace hk::explorer {

namespace {

template<typename Names>
std::string join(const Names &names, const std::string &between = ", ") {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : between) + name;
    return text;
}

// Letters to insert, delete or exchange.
size_t distance(const std::string &a, const std::string &b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); i++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= b.size(); j++) {
            const size_t exchanged = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({exchanged, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

[[noreturn]] void fail_with_near(const std::string &name) {
    const bool with_family = name.find('/') != std::string::npos;
    std::set<std::pair<size_t, std::string>> near;
    for (const Table &table : tables()) {
        for (const KernelInfo &kernel : table.kernels) {
            const std::string full = table.family + "/" + kernel.row;
            near.emplace(distance(name, with_family ? full : kernel.row), full);
        }
    }
    std::vector<std::string> nearest;
    for (const auto &[letters, full] : near)
        if (nearest.size() < 4) nearest.push_back(full);
    throw InvalidArgument("no row or kernel \"" + name + "\"; near it: " + join(nearest) +
                          "; explorer list shows all");
}

// The kernels that the name means, whatever the flags are.
std::vector<const KernelInfo *> kernels_named(const std::string &name) {
    std::vector<const KernelInfo *> found;
    std::set<std::string> families;
    for (const Table &table : tables()) {
        for (const KernelInfo &kernel : table.kernels) {
            if (name == kernel.name) return {&kernel};
            if (name != kernel.row && name != table.family + "/" + kernel.row) continue;
            found.push_back(&kernel);
            families.insert(table.family + "/" + kernel.row);
        }
    }
    if (found.empty()) fail_with_near(name);
    if (families.size() > 1)
        throw InvalidArgument("\"" + name + "\" is a row of several families: write " +
                              join(families, " or "));
    return found;
}

}  // namespace

std::vector<Row> rows_of(const Table &table) {
    const auto key = [](const KernelInfo &k) {
        std::string where;
        for (const Constraint &c : k.where) where += c.field + (" " + to_string(c)) + ",";
        return std::tuple(std::string(k.row), std::string(k.algorithm), std::string(k.schedule),
                          std::string(k.knobs), where);
    };
    std::vector<Row> rows;
    for (const KernelInfo &kernel : table.kernels) {
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row &row) {
            return key(row.first()) == key(kernel);
        });
        (same == rows.end() ? rows.emplace_back() : *same).kernels.push_back(&kernel);
    }
    return rows;
}

const Table &table_of(const std::string &family) {
    std::vector<std::string> names;
    for (const Table &table : tables()) {
        if (table.family == family) return table;
        names.push_back(table.family);
    }
    throw InvalidArgument("no family \"" + family + "\"; there are: " + join(names));
}

void KernelFlags::add_to(program::Flags &flags) {
    flags.add("--target", target, "cpu, cuda or opencl; the row's first");
    flags.add("--type", type, "of the input: f32, f16, …; the row's first");
    flags.add("--layout", layout, "nhwc or nchw, where the family has layouts");
}

const KernelInfo &kernel_named(const std::string &name, const KernelFlags &flags) {
    const auto fits = [](const std::string &flag, std::string_view value) {
        return flag.empty() || flag == value;
    };
    std::vector<std::string> variants;
    for (const KernelInfo *kernel : kernels_named(name)) {
        if (fits(flags.target, name_of(kernel->device)) &&
            fits(flags.type, name_of(kernel->type)) && fits(flags.layout, name_of(kernel->layout)))
            return *kernel;
        variants.push_back(variant_of(*kernel));
    }
    std::string asked;
    for (const std::string *flag : {&flags.type, &flags.layout, &flags.target})
        if (!flag->empty()) asked += (asked.empty() ? "" : " ") + *flag;
    throw InvalidArgument(name + " has no kernel " + asked + "; it has: " + join(variants));
}

std::string variant_of(const KernelInfo &kernel) {
    std::string text(name_of(kernel.type));
    if (kernel.layout != Layout::any) text += " " + std::string(name_of(kernel.layout));
    return text + " " + std::string(name_of(kernel.device));
}

}  // namespace hk::explorer
