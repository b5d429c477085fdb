"""A folder for the files of the running test, as folder.h has it."""

import os
import shutil


def own_folder(parent, test):
    """PARENT/CLASS.METHOD of a unittest.TestCase, in the build tree: empty, removed after it."""
    folder = os.path.join(parent, ".".join(test.id().split(".")[-2:]))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    test.addCleanup(shutil.rmtree, folder, ignore_errors=True)
    return folder
