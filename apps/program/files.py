"""Files of Python programs, written whole or not at all, as file.h has it."""

import errno
import io
import os
import stat


def write_file(path, content):
    """Writes text or bytes beside the file's place and moves them there once all of them are on the
    disk. Raises OSError, and then what was there before is there still. What is no regular file (a
    pipe, /dev/stdout) has no such place and is written to directly."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        _write(os.fspath(path), data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _write(path, data):
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            file.write(data)
        return
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    place = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(place), f".{os.getpid()}.part")
    with open(beside, "xb") as file:
        try:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            file.flush()
            os.fsync(file.fileno())
            os.replace(beside, place)
        except OSError:
            os.remove(beside)
            raise


def save_figure(figure, path, **how):
    """matplotlib's savefig; a PNG where the name says no format."""
    image = io.BytesIO()
    figure.savefig(image, format=os.path.splitext(path)[1][1:] or "png", **how)
    write_file(path, image.getvalue())
