#include "choice.h"

#include <algorithm>

#include "HalideRuntime.h"
#include "cores.h"
#include "hk/error.h"

namespace hk::bench {

namespace {

std::string names_of(const std::vector<DataType> &types) {
    std::string result;
    for (const DataType type : types) result += " " + std::string(name_of(type));
    return result;
}

bool has(const std::vector<DataType> &types, DataType type) {
    return std::find(types.begin(), types.end(), type) != types.end();
}

// The family that is named, or else the first that has the type.
Family family_of(const Choice &choice) {
    if (!choice.family.empty()) return family_named(choice.family);
    for (Family &family : families()) {
        if (choice.type.empty() || has(family.types, data_type_of(choice.type)))
            return std::move(family);
    }
    throw InvalidArgument("no kernel has the type " + choice.type);
}

void read_types(const Family &family, const Choice &options, Settings &settings) {
    settings.type = options.type.empty() ? family.types.front() : data_type_of(options.type);
    if (!has(family.types, settings.type)) {
        throw InvalidArgument("no kernel of " + family.name + " has the type " + options.type +
                              "; there are:" + names_of(family.types));
    }
    std::vector<DataType> outputs = {settings.type};
    if (family.output_types) outputs = family.output_types(settings.type);
    settings.output_type =
        options.output_type.empty() ? outputs.front() : data_type_of(options.output_type);
    if (!has(outputs, settings.output_type)) {
        throw InvalidArgument("no kernel of " + family.name + " makes the output type " +
                              options.output_type + " of " + std::string(name_of(settings.type)) +
                              "; there are:" + names_of(outputs));
    }
}

Layout read_layout(const Family &family, const std::string &name) {
    if (name.empty()) return family.layouts.front();
    if (family.layouts.front() == Layout::any) {
        throw InvalidArgument(family.name + " has no layouts, --layout is " + name);
    }
    return layout_of(name);
}

}  // namespace

Family choose(const Choice &choice, Settings &settings) {
    Family family = family_of(choice);
    read_types(family, choice, settings);
    settings.layout = read_layout(family, choice.layout);
    settings.device = Device::parse(choice.device);
    return family;
}

bool use_threads(const Settings &settings) {
    if (!settings.device.is_cpu()) return true;
    halide_set_num_threads(settings.threads);
    return settings.threads != 1 || stay_on_last_core();
}

}  // namespace hk::bench
