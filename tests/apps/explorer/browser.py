"""Opens a page in headless Chromium with the network cut off, as a reader does without one.

    browser.py PAGE.html[#FRAGMENT] [--id ID]… [--drawn ID]… [--text TEXT]…
        [--at FRAGMENT [--id ID]… [--drawn ID]… [--text TEXT]…]… [--screenshot FILE.png]

Fails where the console shows an error, where the page asks for anything that is not in it, and
where an element or a text is not there once its scripts have run. --drawn: the element also has a
size on the screen, and a picture has loaded. Text is what is visible, in frames too, any spaces as
one. --at: what follows holds after a step to another part of the page. The picture is of the last.
"""

import argparse
import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--disable-dev-shm-usage",
         "--remote-debugging-pipe",
         "--host-resolver-rules=MAP * 0.0.0.0"]
SECONDS = 60  # for an answer
LOOK = """
(({id: ids, drawn, text: texts}) => {
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
})
"""


class Browser:
    """Chromium, spoken to in its DevTools protocol over two pipes: JSON that ends in a
    zero byte."""

    def __init__(self, profile):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if not program:
            sys.exit(f"browser.py: none of {', '.join(NAMES)} is installed")
        commands, self.out = os.pipe()
        self.answers, answers = os.pipe()
        # It reads from 3 and writes to 4, which may be taken here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, answers)]

        def place_pipes():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.log = tempfile.TemporaryFile("w+", dir=os.path.dirname(profile))
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}"], close_fds=False,
            preexec_fn=place_pipes, stdout=self.log, stderr=self.log)
        for end in (commands, answers, *ends):
            os.close(end)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None

    def receive(self, seconds):
        """The next message; None where none comes in time."""
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            block = os.read(self.answers, 1 << 20)
            if not block:
                self.log.seek(0)
                sys.exit("browser.py: Chromium ended:\n" + self.log.read()[-2000:])
            self.buffer += block
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + SECONDS
        while (answer := self.receive(until - time.monotonic())) is not None:
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"browser.py: {method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)
        sys.exit(f"browser.py: no answer to {method} in {SECONDS} s")

    def wait_for(self, method):
        until = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self.events):
            event = self.receive(until - time.monotonic())
            if event is None:
                sys.exit(f"browser.py: no {method} in {SECONDS} s")
            self.events.append(event)

    def listen(self, seconds):
        until = time.monotonic() + seconds
        while (event := self.receive(until - time.monotonic())) is not None:
            self.events.append(event)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"browser.py: {result['exceptionDetails']}")
        return result["result"].get("value")

    def close(self):
        self.session = None
        with contextlib.suppress(OSError):
            os.write(self.out, b'{"id":0,"method":"Browser.close"}\0')
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def faults(events, page):
    for event in events:
        kind, told = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            text = details.get("exception", {}).get("description") or details["text"]
            yield f"the console: uncaught {text}"
        elif kind == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            words = [str(word.get("value", word.get("description"))) for word in told["args"]]
            yield "the console: " + " ".join(words)
        elif kind == "Log.entryAdded" and told["entry"]["level"] == "error":
            yield f"the console: {told['entry']['text']} {told['entry'].get('url', '')}"
        elif kind == "Network.requestWillBeSent":
            address = told["request"]["url"].partition("#")[0]
            if address != page and not address.startswith(("data:", "blob:", "about:")):
                yield f"the page asks for {address}"


class Wanted(argparse.Action):
    """What has to hold at each step: the first is the page as it is opened."""

    def __call__(self, parser, namespace, value, option_string=None):
        if self.dest == "at":
            namespace.steps.append({"at": value})
        else:
            namespace.steps[-1].setdefault(self.dest, []).append(value)


def check(browser, step, wait, patience):
    """What is wrong at a step, and stays so: large frames take a while."""
    place = ""
    if "at" in step:
        place = f"#{step['at']}: "
        browser.evaluate(f"location.hash = {json.dumps(step['at'])}")
        browser.listen(wait)
    wanted = {name: step.get(name, []) for name in ("id", "drawn", "text")}
    until = time.monotonic() + patience
    while True:
        wrong = browser.evaluate(f"({LOOK.strip()})({json.dumps(wanted)})")
        if not wrong or time.monotonic() > until:
            return [place + fault for fault in wrong]
        browser.listen(wait)


def open_page(browser, address, settings):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
    browser.session = attached["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable")
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0,
                 uploadThroughput=0)
    width, height = map(int, settings.size.split(","))
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if settings.dark else "light"}
    browser.call("Emulation.setEmulatedMedia", features=[scheme])
    browser.events.clear()
    failure = browser.call("Page.navigate", url=address).get("errorText")
    if failure:
        sys.exit(f"browser.py: {address}: {failure}")
    browser.wait_for("Page.loadEventFired")
    browser.listen(settings.wait / 1000)


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

    path, _, fragment = settings.page.partition("#")
    if not pathlib.Path(path).is_file():
        sys.exit(f"browser.py: there is no file {path}")
    file = pathlib.Path(path).resolve()
    page = file.as_uri()
    with tempfile.TemporaryDirectory(dir=file.parent, ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            open_page(browser, page + ("#" + fragment if fragment else ""), settings)
            wrong = []
            for step in settings.steps:
                wrong += check(browser, step, settings.wait / 1000, settings.patience)
            if settings.screenshot:
                picture = browser.call("Page.captureScreenshot", format="png")["data"]
                settings.screenshot.write_bytes(base64.b64decode(picture))
        finally:
            browser.close()
    wrong = list(dict.fromkeys([*faults(browser.events, page), *wrong]))
    if wrong:
        sys.exit("\n".join(f"browser.py: {settings.page}: {what}" for what in wrong))


if __name__ == "__main__":
    main()
