#include "bundle_source.h"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tables.h"

namespace hk::explorer {

namespace {

std::string quoted(const std::string &text) { return nlohmann::json(text).dump(); }

std::string source_of(const KernelResources &r) {
    std::string text;
    for (const int figure :
         {r.registers, r.stack_bytes, r.spill_bytes, r.shared_static, r.shared_dynamic, r.threads})
        text += (text.empty() ? "" : ", ") + std::to_string(figure);
    return "{" + text + "}";
}

// A KernelInfo.
std::string source_of(const BundleItem &item) {
    const Candidate &c = item.candidate;
    std::string text = "{";
    for (const std::string &word :
         {item.function, c.family, std::string(item.row ? item.row->row : "candidate"), c.algorithm,
          c.schedule, c.knobs})
        text += quoted(word) + ", ";
    return text + "DataType::" + std::string(name_of(c.type)) +
           ", Layout::" + std::string(name_of(c.layout)) +
           ", DeviceType::" + std::string(name_of(c.device)) + ", where_" + item.function + ", " +
           source_of(item.resources) + ", " + item.function + "_argv, arguments_" + item.function +
           "}";
}

std::string where_of(const BundleItem &item) {
    const char *relations[] = {"equal", "at_least", "at_most", "multiple_of"};
    std::string listed;
    for (const Constraint &c : item.candidate.where)
        listed += "{\"" + std::string(c.field) +
                  "\", Constraint::Relation::" + relations[static_cast<int>(c.relation)] + ", " +
                  std::to_string(c.value) + "}, ";
    return "const std::vector<Constraint> where_" + item.function + " = {" + listed + "};\n";
}

std::string argument_table_of(const BundleItem &item) {
    std::string extents, listed;
    for (const compiler::FunctionArgument &argument : item.arguments) {
        const std::string name = "extents_" + item.function + "_" + argument.name;
        listed += "{" + quoted(argument.name) + ", " + std::to_string(argument.bytes) + ", ";
        listed += argument.extents.empty() ? "{}}, " : name + "}, ";
        if (argument.extents.empty()) continue;
        extents += "const int64_t " + name + "[] = {";
        for (const int64_t extent : argument.extents) extents += std::to_string(extent) + ", ";
        extents += "};\n";
    }
    return extents + "const KernelArgument arguments_" + item.function + "[] = {" + listed + "};\n";
}

// The rows that selection sees stand in the table's order, so that it takes them again.
void write_tables(std::ostream &out, const std::vector<BundleItem> &items) {
    for (const Table &table : tables()) {
        out << "std::span<const KernelInfo> " << table.family << "_kernels() {\n"
            << "    static const std::vector<KernelInfo> rows = {\n";
        for (const KernelInfo &row : table.kernels)
            for (const BundleItem &item : items)
                if (item.row == &row && item.compiled) out << source_of(item) << ",\n";
        out << "};\n    return rows;\n}\n";
    }
}

void write_bundle(std::ostream &out, const Subject &subject, const SweepOptions &options,
                  const std::vector<BundleItem> &items, const std::vector<BundleCase> &cases) {
    out << "namespace explorer {\nconst Bundle &bundle() {\n"
        << "    static const std::vector<BundledCandidate> candidates = {\n";
    std::map<size_t, size_t> places;
    for (size_t i = 0; i < items.size(); i++) {
        const Candidate &c = items[i].candidate;
        if (items[i].row || !items[i].compiled) continue;
        places.emplace(i, places.size());
        out << "{" << quoted(c.name()) << ", " << quoted(c.algorithm) << ", " << quoted(c.schedule)
            << ", " << quoted(c.fixed_text()) << ", " << quoted(c.knobs) << ", "
            << source_of(items[i]) << "},\n";
    }
    out << "};\n    static const std::vector<std::vector<int>> of = {";
    for (const BundleCase &one : cases) {
        out << "{";
        for (const size_t item : one.items)
            if (places.contains(item)) out << places.at(item) << ", ";
        out << "}, ";
    }
    out << "};\n    static const std::vector<BundledCase> cases = {";
    for (size_t i = 0; i < cases.size(); i++)
        out << "{" << quoted(cases[i].list) << ", " << quoted(cases[i].name) << ", of[" << i
            << "]}, ";
    const bench::Settings &s = subject.settings;
    out << "};\n    static const Bundle all = {" << quoted(subject.family.name) << ", "
        << quoted(std::string(name_of(s.type))) << ", "
        << quoted(std::string(name_of(s.output_type))) << ", "
        << quoted(std::string(name_of(s.layout))) << ", " << quoted(s.device.name()) << ", "
        << s.threads << ", " << options.measure_seconds << ", " << quoted(options.part_name())
        << ", cases, candidates};\n    return all;\n}\n}\n";
}

}  // namespace

std::string bundle_source(const Subject &subject, const SweepOptions &options,
                          const std::vector<BundleItem> &items,
                          const std::vector<BundleCase> &cases) {
    std::ostringstream out;
    out << "#include <vector>\n#include \"bundle_table.h\"\n#include \"hk/kernel_info.h\"\n"
        << "extern \"C\" {\n";
    for (const BundleItem &item : items)
        if (item.compiled) out << "int " << item.function << "_argv(void **);\n";
    out << "}\nnamespace hk {\nnamespace {\n";
    for (const BundleItem &item : items)
        if (item.compiled) out << where_of(item) << argument_table_of(item);
    out << "}\n";
    write_tables(out, items);
    write_bundle(out, subject, options, items, cases);
    out << "}\n";
    return out.str();
}

}  // namespace hk::explorer
