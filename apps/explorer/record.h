#pragma once
// What a sweep keeps: results.csv, a line for each candidate, and sweep.json, which says of what.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace hk::explorer {

// One candidate at one case.
struct Record {
    std::string of, candidate;  // the case; Candidate::name()
    std::string algorithm, schedule, fixed, knobs;
    std::string status, reason;  // "ok", or why there is no time
    double compile_seconds = 0, seconds = 0;
    double ns = 0, table_ns = 0;  // in the same rounds
    double rate = 0;              // in the family's unit
    double max_error = 0;
    double at = 0;  // seconds of the case's sweep, those of earlier runs among them
    std::string part = "1/1";

    bool ok() const { return status == "ok"; }
    double ratio() const { return ns > 0 ? table_ns / ns : 0; }
    // It cost time and gave none. Not a row that does not take the case, which costs nothing.
    bool failed() const;
};

// "2/4" as numbers. Throws InvalidArgument.
std::pair<int, int> part_of(const std::string &text);

// "conv2d_3x3" of any text: letters, digits, and - _ . stay.
std::string file_name_of(const std::string &text);

// RFC 4180: fields with commas, quotes or line breaks in quotes. Whole lines only; where the text
// ends within one, `whole` is the length up to it.
std::string csv_line(const std::vector<std::string> &fields);
std::vector<std::vector<std::string>> parse_csv(const std::string &text, size_t *whole = nullptr);

std::string to_csv(const Record &record);
std::string csv_header();

// Throws Error for a file that is not one of these.
std::vector<Record> read_records(const std::filesystem::path &file);
void write_records(const std::filesystem::path &file, const std::vector<Record> &records);
nlohmann::json read_json(const std::filesystem::path &file);  // null where there is none
void write_json(const std::filesystem::path &file, const nlohmann::json &value);

// A file of records, to which they are appended one by one.
class Journal {
public:
    // Reads what is there, drops half a line at its end, and locks the file. Throws InvalidArgument
    // where another process has it.
    explicit Journal(std::filesystem::path file);
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    void append(const Record &record);  // on the disk when it returns
    const std::vector<Record> &records() const { return records_; }

private:
    std::filesystem::path path_;
    int file_ = -1;
    std::vector<Record> records_;
};

}  // namespace hk::explorer
