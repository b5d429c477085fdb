#pragma once
// Lists of shapes as text: the CSV files of families/, which the build embeds, or a file. Comments,
// a line with the names of its columns, one line a shape.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hk::bench {

// Of a folder in families/.
std::vector<std::string> embedded_lists(std::string_view folder);

// The names in what --list takes, commas between them: smoke,rows=64,k=5 is the list smoke and one
// case of its own, as COLUMN=VALUE next to each other are of one case.
std::vector<std::string> list_names(const std::string &text);

// The text of an embedded list; empty for a name that the folder does not have.
std::string_view embedded_csv(std::string_view folder, std::string_view name);

// The same, or that of a file where the name ends in .csv, or one line where the name is its
// columns and their values, rows=64,k=5. Throws InvalidArgument.
std::string list_text(std::string_view folder, const std::string &name);

// The cells of each line by the names of their columns. Throws InvalidArgument where there are
// none.
std::vector<std::map<std::string, std::string>> list_lines(std::string_view csv);

// Written by the build.
struct EmbeddedList {
    std::string_view folder, name, text;
};
extern const std::vector<EmbeddedList> embedded;

}  // namespace hk::bench
