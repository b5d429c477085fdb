#include "compiler/report.h"

#include <iomanip>
#include <sstream>

namespace hk::compiler {

namespace {

template<typename Items, typename Write>
void write_list(std::ostream &text, const Items &items, const Write &write) {
    const char *between = "[";
    for (const auto &item : items) {
        text << between;
        write(item);
        between = ", ";
    }
    text << (items.empty() ? "[]" : "]");
}

// Without the brace at its end.
void write_resources(std::ostream &text, const Resources &kernel) {
    text << "{\"name\": \"" << kernel.name << "\"";
    for (const auto &[name, field] : Resources::fields()) {
        text << ", \"" << name << "\": ";
        if (kernel.*field == Resources::dynamic)
            text << "\"dynamic\"";
        else
            text << kernel.*field;
    }
}

}  // namespace

std::string to_json(const Report &report) {
    std::ostringstream text;
    write_resources(text, largest(report.function, report.kernels));
    text << ", \"functions\": ";
    write_list(text, report.kernels, [&](const Resources &kernel) {
        write_resources(text, kernel);
        text << "}";
    });
    text << ", \"arguments\": ";
    write_list(text, report.arguments, [&](const FunctionArgument &argument) {
        text << "{\"name\": \"" << argument.name << "\", \"bytes\": " << argument.bytes
             << ", \"extents\": ";
        write_list(text, argument.extents, [&](int64_t extent) { text << extent; });
        text << "}";
    });
    text << ", \"content\": \"" << report.content << '"';
    text << ", \"seconds\": " << std::fixed << std::setprecision(2) << report.seconds << "}\n";
    return text.str();
}

}  // namespace hk::compiler
