"""Opens a page in headless Chromium with the network cut off, as a reader does without one.

    browser.py PAGE.html[#FRAGMENT] [--id ID]… [--drawn ID]… [--text TEXT]…
        [--at FRAGMENT [--id ID]… [--drawn ID]… [--text TEXT]…]… [--screenshot FILE.png]

Fails where the console shows an error, where the page asks for anything that is not in it, and
where an element or a text is not there once its scripts have run. --drawn: the element also has a
size on the screen, and a picture has loaded. Text is what is visible, in frames too, any spaces as
one. --at: what follows holds after a step to another part of the page. The picture is of the last.
"""

import argparse
import contextlib
import pathlib
import shutil
import sys
import time

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--disable-gpu", "--host-resolver-rules=MAP * 0.0.0.0"]
LOOK = """
({id: ids, drawn, text: texts}) => {
    const documents = [document];
    for (const frame of document.querySelectorAll("iframe"))
        if (frame.contentDocument?.body && frame.getClientRects().length)
            documents.push(frame.contentDocument);
    const find = id => documents.map(d => d.getElementById(id)).find(Boolean);
    const spaced = text => text.replace(/\\s+/g, " ").trim();
    const seen = spaced(documents.map(d => d.body.innerText).join(" "));
    const area = e => { const box = e.getBoundingClientRect(); return box.width * box.height; };
    const faults = [];
    for (const id of [...ids, ...drawn]) if (!find(id)) faults.push(`no element has the id ${id}`);
    for (const e of drawn.map(find).filter(Boolean))
        if (!area(e) || e.naturalWidth === 0) faults.push(`the element ${e.id} is not drawn`);
    for (const text of texts) if (!seen.includes(spaced(text))) faults.push(`no text "${text}"`);
    return faults;
}
"""


@contextlib.contextmanager
def opened(address, size="1500,1000", dark=False, wait=500):
    """The page, and a list of what has gone wrong on it so far."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        sys.exit(f"browser.py: none of {', '.join(NAMES)} is installed")
    wrong = []

    def note_message(message):
        if message.type in ("error", "assert"):
            wrong.append(f"the console: {message.text} {message.location['url']}")

    def note_request(request):
        itself = request.url.partition("#")[0] == address.partition("#")[0]
        if not itself and not request.url.startswith(("data:", "blob:", "about:")):
            wrong.append(f"the page asks for {request.url}")

    with sync_playwright() as playwright:
        width, height = map(int, size.split(","))
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(offline=True, viewport={"width": width, "height": height},
                                color_scheme="dark" if dark else "light")
        page.set_default_timeout(60e3)
        page.on("pageerror", lambda e: wrong.append(f"the console: uncaught {e.name}: {e.message}"))
        page.on("console", note_message)
        page.on("request", note_request)
        page.goto(address)
        page.wait_for_timeout(wait)
        yield page, wrong
        browser.close()


class Wanted(argparse.Action):
    """What has to hold at each step: the first is the page as it is opened."""

    def __call__(self, parser, namespace, value, option_string=None):
        if self.dest == "at":
            namespace.steps.append({"at": value})
        else:
            namespace.steps[-1].setdefault(self.dest, []).append(value)


def check(page, step, wait, patience):
    """What is wrong at a step, and stays so: large frames take a while."""
    place = ""
    if "at" in step:
        place = f"#{step['at']}: "
        page.evaluate("fragment => { location.hash = fragment; }", step["at"])
        page.wait_for_timeout(wait)
    wanted = {name: step.get(name, []) for name in ("id", "drawn", "text")}
    until = time.monotonic() + patience
    while (wrong := page.evaluate(LOOK, wanted)) and time.monotonic() < until:
        page.wait_for_timeout(wait)
    return [place + fault for fault in wrong]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.set_defaults(steps=[{}])
    parser.add_argument("--id", action=Wanted, help="of an element that has to be there")
    parser.add_argument("--drawn", action=Wanted, help="id of an element that has to be seen")
    parser.add_argument("--text", action=Wanted, help="that has to be seen")
    parser.add_argument("--at", action=Wanted, help="what follows # in a link to another part")
    parser.add_argument("--screenshot", type=pathlib.Path)
    parser.add_argument("--size", default="1500,1000", help="of the window: WIDTH,HEIGHT")
    parser.add_argument("--wait", type=int, default=500, help="milliseconds before each step")
    parser.add_argument("--patience", type=float, default=15,
                        help="seconds after which what is missing is missing")
    parser.add_argument("--dark", action="store_true", help="for readers who prefer dark pages")
    settings = parser.parse_args()

    path, hash_sign, fragment = settings.page.partition("#")
    if not pathlib.Path(path).is_file():
        sys.exit(f"browser.py: there is no file {path}")
    address = pathlib.Path(path).resolve().as_uri() + hash_sign + fragment
    with opened(address, settings.size, settings.dark, settings.wait) as (page, wrong):
        for step in settings.steps:
            wrong += check(page, step, settings.wait, settings.patience)
        if settings.screenshot:
            page.screenshot(path=settings.screenshot)
    if wrong:
        sys.exit("\n".join(f"browser.py: {settings.page}: {what}" for what in dict.fromkeys(wrong)))


if __name__ == "__main__":
    main()
