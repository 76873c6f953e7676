"""A headless Chromium without a network, spoken to over its debugging pipe (file descriptors 3 and 4)."""

import base64
import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --hide-scrollbars --host-resolver-rules='MAP * ~NOTFOUND'"
)


class Browser:
    """`with Browser() as browser: browser.open(path, width=400)`, then `browser.ask("an expression")`.

    `requests` are all addresses that the page asked for, `complaints` what its console and its errors said.
    """

    def __enter__(self) -> "Browser":
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self.write = os.pipe()
        self.read, answers = os.pipe()
        command = f"exec 3<&{theirs} 4>&{answers}; exec {CHROMIUM} {FLAGS} --remote-debugging-pipe"
        self.process = subprocess.Popen(
            ["bash", "-c", f"{command} --user-data-dir={self.profile.name} about:blank"],
            pass_fds=(theirs, answers),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answers)
        self.number, self.buffer, self.session = 0, b"", ""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self.write)  # which ends it
        os.close(self.read)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Load a file and wait until its charts are drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Page.navigate", url=path.absolute().as_uri())
        drawn = "document.documentElement?.hasAttribute('data-drawn')"
        self.ask(
            f"new Promise((done, no) => {{ const end = Date.now() + 30000; const look = () => {drawn} ? done(1) :"
            " Date.now() > end ? no(new Error('not drawn')) : setTimeout(look, 20); look(); })"
        )

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def picture(self, path: Path, whole: bool = True) -> None:
        """A PNG of the page."""
        done = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(done["data"]))

    def print(self, path: Path) -> None:
        """The page as PDF."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self.number:
                assert "error" not in found, found["error"]
                return dict(found["result"])
            self._note(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            more = os.read(self.read, 1 << 20)
            assert more, "the browser is gone"
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        values = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(values["request"]["url"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.complaints.append(json.dumps(values)[:2000])
