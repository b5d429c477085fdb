# Writes OUTPUT, the C++ source that holds the CSV files SHAPE_FILES.
set(names "")
set(cases "")
foreach(list IN LISTS SHAPE_FILES)
    get_filename_component(name "${list}" NAME_WE)
    file(READ "${list}" text)
    string(APPEND names "    \"${name}\",\n")
    string(APPEND cases "    if (name == \"${name}\") {\n        return R\"csv(${text})csv\";\n    }\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by embed_lists.cmake.
#include \"shapes.h\"

namespace hk::bench {

const std::vector<std::string> embedded_names = {
${names}};

std::string_view embedded_csv(std::string_view name) {
${cases}    return {};
}

}  // namespace hk::bench
")
