"""Uses the extension in a VS Code that Chromium shows; `vscode`, next to this file, starts it and runs this."""

import os
import re
import sys
import time
from pathlib import Path

from playwright.sync_api import TimeoutError, expect, sync_playwright

# A busy machine starts VS Code in minutes.
PATIENCE = 600_000


class Failed(Exception):
    """What should be seen isn't there."""


def ok(words):
    print(f"ok      {words}", flush=True)


def check(is_well, words, found=""):
    if not is_well:
        raise Failed(f"{words}: {found!r}")
    ok(words)


class Window:
    """VS Code, with a folder open."""

    def __init__(self, page, url, pictures):
        self.page, self.url, self.pictures = page, url, pictures
        self.n_pictures = 0
        pictures.mkdir(parents=True, exist_ok=True)

    def picture(self, name):
        self.n_pictures += 1
        self.page.screenshot(path=self.pictures / f"{self.n_pictures:02}-{name}.png")

    def open(self, folder, trusts):
        self.page.goto(f"{self.url}/?folder={folder}", wait_until="commit")
        answer = "Yes, I trust the authors" if trusts else "No, I don't trust the authors"
        self.page.get_by_role("button", name=answer).click()

    def open_file(self, folder, name):
        for part in (folder, name):
            self.page.locator(".explorer-folders-view .monaco-list-row", has_text=part).first.click()
        self.page.locator(".view-line", has_text="fn acquire").first.wait_for()

    def line(self, words):
        return self.page.locator(".view-lines .view-line", has_text=words).first

    def press_on(self, words, *keys):
        self.line(words).locator("span span").last.click()
        for key in keys:
            self.page.keyboard.press(key)

    def hover(self, words, expected, on=None):
        """The text under the pointer on a word of a line, once it holds what is expected."""
        shown = self.page.locator(".monaco-hover:not(.hidden) .hover-contents", has_text=expected).first
        for _ in range(40):
            self.page.mouse.move(5, 5)
            self.page.keyboard.press("Escape")
            self.line(words).get_by_text(on or words).last.hover()
            try:
                shown.wait_for(timeout=5000)
                return self.page.locator(".monaco-hover:not(.hidden)").first
            except TimeoutError:
                continue
        raise Failed(f"no hover with {expected!r} on {words!r}")

    def command(self, title):
        """Runs a command by its title, as a person does from the list of all."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input").first
        box.fill(f">{title}")
        self.page.locator(".quick-input-list .monaco-list-row", has_text=title.split(": ")[-1]).first.click()

    def answer(self, words):
        """Types into the box that is open."""
        box = self.page.locator(".quick-input-widget:visible input").first
        box.fill(words)
        self.page.keyboard.press("Enter")

    def notice(self, words):
        notice = self.page.locator(".notification-toast", has_text=words).first
        notice.wait_for()
        return notice.inner_text()

    def frame(self, words):
        """The page of the panel, once it shows these words."""
        for _ in range(300):
            for frame in self.page.frames:
                try:
                    text = frame.evaluate("document.getElementById('root')?.innerText || ''")
                except Exception:  # A frame may be gone by now.
                    continue
                if re.search(words, text):
                    return frame, text
            self.page.wait_for_timeout(200)
        raise Failed(f"the panel does not show {words!r}")


def seeing(window):
    page = window.page
    lens = page.locator(".codelens-decoration", has_text="gotcha").first
    lens.wait_for()
    check("1 gotcha, 1 dead end" in lens.inner_text() and "relies on this" in lens.inner_text(),
          f"code lens: {lens.inner_text()}", lens.inner_text())
    page.locator(".view-line", has_text="1 lesson").first.wait_for()
    n_hints = page.locator(".view-line", has_text="1 lesson").count()
    check(n_hints >= 3, f"inlay hints at the ends of {n_hints} lines", n_hints)
    icons = page.locator(".glyph-margin-widgets .cgmr")
    icons.first.wait_for()
    kinds = icons.evaluate_all("all => all.map(one => /([a-z_]+)\\.svg/.exec(getComputedStyle(one).backgroundImage)?.[1])")
    check({"gotcha", "dead_end", "insight", "unfinished_thread"} <= set(kinds), f"icons in the gutter: {kinds}", kinds)
    hover = window.hover("deadline", "freezes the window")
    words = hover.inner_text()
    check("gotcha (line" in words and "dead end (line" in words, "hover: the lessons of the line", words)
    hover = window.hover("deadline", "Written by")
    words = hover.inner_text()
    check("pool: wait for a while" in words and "Make a full pool wait" in words,
          "hover: the commit, and the session that led to it", words)
    window.picture("hover")


def warning(window):
    """A change of the trap, which is not saved."""
    window.press_on("deadline", "End", "ArrowLeft")
    window.page.keyboard.type(" * 2")
    squiggle = window.page.locator(".squiggly-hint").first
    squiggle.wait_for()
    # VS Code marks a hint by three dots below the first letters, and shows it there.
    hover = window.hover("PATIENCE * 2", "chronicle", on="let")
    check("freezes the window" in hover.inner_text(), "a hint where an unsaved change touches a trap", hover.inner_text())
    window.picture("warning")
    # It is undone: of a line that isn't committed, the panel shows no commit.
    window.press_on("PATIENCE * 2", *["Control+z"] * 4)
    window.page.locator(".view-line", has_text="PATIENCE * 2").first.wait_for(state="detached")


def panel(window):
    window.command("Chronicle: Open the Panel")
    window.press_on("deadline")
    frame, text = window.frame("freezes the window")
    check("Written by" in text and "Session 7e551011" in text, "the panel: lessons, commit and session of the line", text)
    window.picture("panel")
    frame.get_by_role("button", name=re.compile("^Session")).first.click()
    window.page.locator(".view-line", has_text="Make a full pool wait").first.wait_for()
    ok("the panel opens the session")
    window.picture("session")
    window.page.keyboard.press("Control+F4")


def noting(window, notes):
    page = window.page
    page.locator(".tab", has_text="pool.rs").first.click()
    window.press_on("self.free.push")
    window.command("Chronicle: Note a Lesson Here")
    page.locator(".quick-input-list .monaco-list-row", has_text="Gotcha").first.wait_for()
    window.picture("kinds")
    page.keyboard.press("Enter")
    page.locator(".quick-input-widget:visible .quick-input-title", has_text="Gotcha on line").wait_for()
    window.answer("An id that is given back twice is handed out twice.")
    words = window.notice("Noted")
    check("on line 24." in words, f"a lesson is noted: {words.splitlines()[0]}", words)
    window.picture("noted")
    check("handed out twice" in notes(), "git-chronicle has the note", notes())


def acting(window):
    page = window.page
    window.press_on("let found")
    page.keyboard.press("Control+.")
    actions = page.locator(".action-widget .monaco-list-row")
    actions.first.wait_for()
    titles = actions.all_inner_texts()
    check(any("Note a lesson here" in title for title in titles) and any("Mark as done" in title for title in titles),
          f"actions: {len(titles)}", titles)
    window.picture("actions")
    page.locator(".action-widget .monaco-list-row", has_text="Mark as done").first.click()
    ok("work is marked as done: " + window.notice("no longer valid").splitlines()[0])
    page.locator(".codelens-decoration", has_text="gotcha").first.locator("a", has_text="gotcha").first.click()
    page.locator(".view-line", has_text="freezes").first.wait_for()
    ok("a code lens opens the lessons")
    window.picture("lens")
    page.keyboard.press("Control+F4")


def walkthrough(window):
    window.command("Welcome: Open Walkthrough")
    row = window.page.locator(".quick-input-list .monaco-list-row", has_text="Get started with Chronicle")
    row.first.click()
    window.page.get_by_text("See the lessons of a file").first.click()
    window.page.get_by_text("Open a file of a repository with lessons").first.wait_for()
    ok("the walkthrough")
    window.picture("walkthrough")


def starts(folder):
    started = folder / "started"
    return started.read_text().splitlines() if started.exists() else []


def untrusted(window, folder):
    window.open(folder / "hostile", trusts=False)
    window.open_file("src", "pool.rs")
    window.page.wait_for_timeout(15_000)
    ours = [line for line in starts(folder) if "/hostile " in line]
    check(not ours and not window.page.locator(".codelens-decoration").count(), "off where the folder is not trusted", ours)
    window.picture("untrusted")


def hostile(window, folder):
    """A folder like the one before is trusted. Its settings name another program, and its lesson is markup."""
    window.open(folder / "hostile-trusted", trusts=True)
    window.open_file("src", "pool.rs")
    hover = window.hover("deadline", "See [the fix]")
    n_links = hover.locator("a[href], a[data-href], img[src='x']").count()
    check(n_links == 0 and "command:workbench" in hover.inner_text(), "a hostile lesson is shown as text",
          hover.inner_html()[:2000])
    check(not (folder / "evil-ran").exists() and any("/hostile-trusted lsp" in line for line in starts(folder)),
          "the settings of a workspace don't choose the program", starts(folder))
    window.picture("hostile")


def main(browser, url, folder, pictures):
    folder = Path(folder)

    def notes():
        import subprocess
        return subprocess.run(["git-chronicle", "note", "--list"], cwd=folder / "pool", capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{folder}/programs:{os.environ['PATH']}"}).stdout

    n_failed = 0
    with sync_playwright() as playwright:
        # The sandbox of Chromium cannot be had as root in a container.
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE)
        window = Window(page, url, Path(pictures))

        def opened():
            window.open(folder / "pool", trusts=True)
            window.open_file("src", "pool.rs")

        steps = [("opening", opened), ("seeing", lambda: seeing(window)),
                 ("warning", lambda: warning(window)), ("panel", lambda: panel(window)),
                 ("noting", lambda: noting(window, notes)), ("acting", lambda: acting(window)),
                 ("walkthrough", lambda: walkthrough(window)), ("untrusted", lambda: untrusted(window, folder)),
                 ("hostile", lambda: hostile(window, folder))]
        chosen = os.environ.get("STEPS")
        for name, step in steps:
            if chosen and name not in chosen.split(","):
                continue
            start = time.monotonic()
            try:
                step()
            except (Failed, TimeoutError, AssertionError) as error:
                n_failed += 1
                print(f"FAILED  {name}: {str(error)[:1500]}", flush=True)
                window.picture(f"failed-{name}")
            print(f"        {name}: {time.monotonic() - start:.0f} s", flush=True)
        chromium.close()
    return n_failed


sys.exit(1 if main(*sys.argv[1:5]) else 0)
