#pragma once
// Lists of shapes as text: the CSV files of shapes/, which the build embeds, or a file. Comments, a
// line with the names of its columns, one line a shape.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hk::bench {

// Of a family's folder in shapes/.
std::vector<std::string> embedded_lists(std::string_view folder);

// The names in what --list takes, commas between them: smoke,c=64,h=56 is the list smoke and one
// case of its own, as COLUMN=VALUE next to each other are of one case.
std::vector<std::string> list_names(const std::string &text);

// The text of an embedded list; empty for a name that the folder does not have.
std::string_view embedded_csv(std::string_view folder, std::string_view name);

// The same, or that of a file where the name ends in .csv, or one line where the name is its
// columns and their values, c=64,h=56. Throws InvalidArgument.
std::string list_text(std::string_view folder, const std::string &name);

// The cells of one line by the names of their columns, each of which must be asked for.
class ListLine {
public:
    ListLine(const std::vector<std::string> &header, const std::string &line);

    // These leave the value where there is no such column; numbers are from 0. Throw
    // InvalidArgument.
    void read(const std::string &column, int64_t &value);
    void read(const std::string &column, std::string &value);

    void finish() const;  // throws InvalidArgument, naming a column that was not asked for

private:
    std::string line_;
    std::map<std::string, std::string> cells_;
};

// The lines of a text; throws InvalidArgument where there are none.
std::vector<ListLine> list_lines(std::string_view csv);

// Written by the build.
struct EmbeddedList {
    std::string_view folder, name, text;
};
extern const std::vector<EmbeddedList> embedded;

}  // namespace hk::bench
