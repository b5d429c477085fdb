# Writes OUTPUT, the C++ source that holds the CSV files SHAPE_FILES, each in its family's folder.
set(lists "")
foreach(list IN LISTS SHAPE_FILES)
    get_filename_component(name "${list}" NAME_WE)
    get_filename_component(folder "${list}" DIRECTORY)
    get_filename_component(folder "${folder}" NAME)
    file(READ "${list}" text)
    string(APPEND lists "    {\"${folder}\", \"${name}\", R\"csv(${text})csv\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by embed_lists.cmake.
#include \"lists.h\"

namespace hk::bench {

const std::vector<EmbeddedList> embedded = {
${lists}};

}  // namespace hk::bench
")
