"""The README's picture, from two that `make demo` makes:

    draw_readme.py build/filter.png build/cloud.png docs/demo.jpg
"""

import io
import os
import sys

from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "program"))

from files import write_file  # noqa: E402

TOP, PANEL = 74, 512  # of the sheet of apps/filter/sheet.cpp
PHOTOGRAPH, ORIENTATION = 40, 1120
SCAN = (60, 30, 1540, 980)  # of the cloud, without the empty border
HEIGHT, GAP, PAPER = 300, 8, (14, 15, 19)


def scaled(image):
    return image.convert("RGB").resize((round(image.width * HEIGHT / image.height), HEIGHT),
                                       Image.Resampling.LANCZOS)


def main():
    sheet, cloud = (Image.open(path) for path in sys.argv[1:3])
    parts = [scaled(sheet.crop((x, TOP, x + PANEL, TOP + PANEL))) for x in (PHOTOGRAPH, ORIENTATION)]
    parts.append(scaled(cloud.crop(SCAN)))
    picture = Image.new("RGB", (sum(p.width for p in parts) + GAP * (len(parts) - 1), HEIGHT), PAPER)
    left = 0
    for part in parts:
        picture.paste(part, (left, 0))
        left += part.width + GAP
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=72, optimize=True, progressive=True)
    write_file(sys.argv[3], data.getvalue())


if __name__ == "__main__":
    main()
