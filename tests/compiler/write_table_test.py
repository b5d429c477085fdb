"""Tables of rows whose reports are made up."""

import json
import subprocess

import program_runs
from program_runs import PYTHON, SOURCE, ProgramTest

ROW = "{name}|family|{name}|algorithm|schedule||f32|any|cpu|||"


class WriteTable(ProgramTest):
    def table(self, contents):
        (self.folder / "rows.txt").write_text("\n".join(ROW.format(name=name) for name in contents))
        for name, content in contents.items():
            (self.folder / f"{name}.json").write_text(json.dumps({"arguments": [], "content": content}))
        output = self.folder / "table.cpp"
        script = SOURCE / "compiler" / "write_table.py"
        subprocess.run([PYTHON, script, "family", "library", self.folder, output], check=True)
        return output.read_text()

    def test_rows_of_one_content_have_one_function(self):
        table = self.table({"a": "1", "b": "2", "c": "1"})
        self.assertEqual(table.count("a_argv"), 3)  # declared, of a, of c
        self.assertEqual(table.count("b_argv"), 2)
        self.assertEqual(table.count("c_argv"), 0)
        for name in "abc":
            self.assertIn(f'{{"{name}", "family", "{name}"', table)


if __name__ == "__main__":
    program_runs.main()
