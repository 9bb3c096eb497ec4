"""Whether everybody can use a page: with a screen reader, a keyboard, bad eyes; and whether it does no more
than it should."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, TimeoutError, expect

STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOURS = ["color-contrast", "link-in-text-block"]  # all of the standard's rules that look at colours
# What is seen of a frame is told after it: two frames, and then what was kept of them.
SHIFTS = """() => new Promise((done) => {
    const found = [], of = (node) => node?.outerHTML?.slice(0, 120) ?? node?.textContent;
    const rect = (one) => [one.x, one.y, one.width, one.height].join(" ");
    const told = (one) => `${of(one.node)} from ${rect(one.previousRect)} to ${rect(one.currentRect)}`;
    const note = (entries) => {
        // The last line of a page that is still coming in may grow, and its last word go to the next line.
        const grown = (entry) => entry.sources.every(({node}) => node?.nodeType === Node.TEXT_NODE);
        for (const one of entries.filter((entry) => entry.value >= 0.001 && !grown(entry)))
            found.push(`${one.value}: ${one.sources.map(told).join("; ")}`);
    };
    const watch = new PerformanceObserver((list) => note(list.getEntries()));
    watch.observe({type: 'layout-shift', buffered: true});
    const end = () => { note(watch.takeRecords()); done(found); };
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(end)));
})"""
FITS = """width => {
    const {scrollWidth, clientWidth} = document.documentElement;
    return window.innerWidth === width && scrollWidth <= clientWidth;
}"""
# What reaches over the edge, from outside in: the last is most likely to blame.
WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.outerHTML.slice(0, 80))"""
# Only what is wrong is worked out and handed over: what passes is most of a page.
VIOLATIONS = """async ([kind, values]) => {
    const only = {runOnly: {type: kind, values}, resultTypes: ["violations"]};
    const told = (one, node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary.slice(0, 200)}`;
    const found = await axe.run(only);
    return found.violations.flatMap((one) => one.nodes.map((node) => told(one, node)));
}"""


def shifts(page: Page) -> list[str]:
    """What moved by itself since the page was opened, from where to where."""
    found: list[str] = page.evaluate(SHIFTS)
    return found


def violations(page: Page, *, rules: list[str] | None = None) -> list[str]:
    """What keeps people from using the page as it is now, by all rules or by those named."""
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(VIOLATIONS, ["rule", rules] if rules else ["tag", STANDARD])
    return found


def expect_fits(page: Page, width: int) -> None:
    """It is not wider than the screen, less the room that is kept for a scroll bar: nobody has to push it to
    and fro to read."""
    try:
        page.wait_for_function(FITS, arg=width)
    except TimeoutError:
        raise AssertionError(f"wider than {width}: {page.evaluate(WIDE)}") from None


def expect_harmless(page: Page) -> None:
    """No text has become an element that acts or loads. Call it when something of the page was seen."""
    page.wait_for_load_state()
    acts = "main script, main svg[onload], main img, main [onerror], a[href^='javascript']"
    expect(page.locator(acts)).to_have_count(0)
