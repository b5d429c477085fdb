# Tests write into folders of their own (folder.h, own_folder.py), not where all programs do, and
# where an earlier run left something.
file(GLOB_RECURSE files ${TESTS}/*.cpp ${TESTS}/*.h ${TESTS}/*.py ${TESTS}/*.txt)
set(faults "")
foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX
        "TempDir\\(|temp_directory_path|mkdtemp|mkstemp|tmpnam|tmpfile|gettempdir|[\"' =]/tmp/|TemporaryDirectory\\(\\)|NamedTemporaryFile\\(\\)")
    foreach(line IN LISTS lines)
        string(APPEND faults "\n${file}: ${line}")
    endforeach()
endforeach()
if(faults)
    message(FATAL_ERROR "these tests write to the system's temporary folder:${faults}")
endif()
