"""The pages of the service in a real browser: ask it, show differences, say what is wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from rapidfuzz.distance import Levenshtein
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import neardup_solr as nd
from tests.browser.conftest import Chrome, complaints, prefer, requests, resize
from tests.browser.test_page import (
    CONTRASTS,
    READABLE,
    css,
    dialogs,
    first,
    is_wider_than_the_window,
)
from tests.conftest import Cores
from tests.faults.proxy import Proxy, proxied
from tests.services import serving

TOKEN = "c4n4ry-of-the-page"
CAFE = "Blue Door Cafe, 12 Harbour Street, Bristol: fish and chips since 1961, open daily"
NEAR = "Blue Door Cafe, 14 Harbour Street, Bristol: FISH and/or chips since 1961"
HOSTILE = (
    '<script>window.harm = 1</script> <img src="//x.test/x" onerror="alert(1)"> \u202e lanterns'
)
DOCUMENTS = {
    "cafe": CAFE,
    "ferry": "A ferry leaves the old pier at nine with a band",
    "<b onclick=alert(2)>\u202eid</b>": f"{HOSTILE} at the pier until late",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the pages are, and the network between the service and its Solr."""

    address: str
    solr: Proxy


@pytest.fixture(scope="module")
def place(core_pool: Cores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A service of three documents that asks for a token, below a path."""
    core = core_pool.take()
    nd.index([{"id": id, "text": text} for id, text in DOCUMENTS.items()], core)
    folder = tmp_path_factory.mktemp("page")
    (folder / "tokens").write_text(f"page {TOKEN} check search\nchecker {TOKEN[::-1]} check\n")
    words = ("--hold", "0.7", "--root-path", "/neardup", "--tokens", str(folder / "tokens"))
    parts = urlsplit(core.url)
    with (
        proxied(parts.port or 0) as solr,
        serving(core.url.replace(parts.netloc, urlsplit(solr.url).netloc), folder / "log", *words)
        as served,
    ):  # fmt: skip
        yield Place(address=served.address, solr=solr)
    core_pool.give_back(core.name)


@pytest.fixture
def chrome(place: Place, chromium: Chrome) -> Chrome:
    """The page in a wide, light window, which knows the token."""
    resize(chromium, 1200, 900)
    prefer(chromium, "light")
    chromium.get(place.address)
    keep = "sessionStorage.clear(); sessionStorage.setItem(KEPT, arguments[0])"
    chromium.execute_script(keep, TOKEN)
    complaints(chromium), requests(chromium)  # those before do not count
    chromium.refresh()
    return chromium


def compare(chrome: Chrome, text: str, *keys: str) -> None:
    """Paste a text, and compare it by keys, or by the button; wait for the answer."""
    chrome.execute_script(
        """const field = document.getElementById("text");
        field.value = arguments[0];
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        field.focus();""",
        text,
    )
    if keys:
        first(chrome, "#text").send_keys(*keys)
    else:
        first(chrome, "#go").click()
    settle(chrome)


def settle(chrome: Chrome) -> None:
    """Wait until the page asks nothing."""
    WebDriverWait(chrome, 30).until(lambda _: first(chrome, "#go").is_enabled())


def texts(chrome: Chrome, selector: str) -> list[str]:
    """The texts of the elements that a selector matches."""
    return [one.text for one in css(chrome, selector)]


def test_a_near_duplicate_with_its_differences(place: Place, chrome: Chrome) -> None:
    """The decision and its reason, and the words that differ; nothing else is asked for."""
    compare(chrome, NEAR, Keys.CONTROL, Keys.ENTER)
    answer = first(chrome, "#answer")
    assert answer.text.splitlines() == [
        "Hold Needs a decision by a person: its similarity to 'cafe' is 0.714, which is 0.7 or"
        " more.",
        "1 document has a similarity of 0.5 or more",
    ]
    assert answer.aria_role == "status"
    assert texts(chrome, "#matches .figure") == ["0.714 similar · 4 words apart"]
    assert texts(chrome, ".diff del") == ["12", "open daily"]
    assert texts(chrome, ".diff ins") == ["14", "or"]
    assert chrome.switch_to.active_element == first(chrome, "#text")
    first(chrome, "#matches .opener").send_keys(Keys.ENTER)
    assert texts(chrome, "#matches .preview") == [CAFE]
    compare(chrome, CAFE.upper())
    assert "Reject" in first(chrome, "#answer").text
    assert "No word differs" in first(chrome, "#matches").text
    assert chrome.switch_to.active_element == first(chrome, "#go")
    assert complaints(chrome) == []
    asked = {url for url in requests(chrome) if not url.startswith("data:")}
    names = ("", "report.css", "page.css", "words.js", "page.js", "check", "search")
    assert asked == {place.address + name for name in names}


def test_its_own_id_is_not_met(chrome: Chrome) -> None:
    """A document that is changed may come in, and the list says which it replaces."""
    first(chrome, "#id").send_keys("cafe")
    compare(chrome, NEAR)
    assert "Allow" in first(chrome, "#answer").text
    assert texts(chrome, "#matches .tag") == ["same id: would be replaced"]


def test_hostile_texts_are_texts(chrome: Chrome) -> None:
    """Markup of texts and ids is shown, not run, and direction marks are seen."""
    compare(chrome, f"{HOSTILE} at the pier until nine")
    shown = str(chrome.execute_script("return document.getElementById('matches').textContent"))
    assert "<script>window.harm = 1</script>" in shown
    assert "<b onclick=alert(2)>U+202Eid</b>" in shown
    assert "\u202e" not in shown
    assert css(chrome, "main :is(script, img, b, [onerror], [onclick])") == []
    assert chrome.execute_script("return window.harm") is None
    assert dialogs(chrome) == 0
    assert complaints(chrome) == []


def test_a_token_is_asked_for_and_used(place: Place, chrome: Chrome) -> None:
    """One line and a field; this tab remembers it, and nothing else does."""
    chrome.execute_script("sessionStorage.clear()")
    chrome.refresh()
    assert not first(chrome, "#token").is_displayed()
    compare(chrome, NEAR)
    assert texts(chrome, "#problem") == ["the token is missing or wrong; enter a token above."]
    token = chrome.switch_to.active_element
    assert (token.get_attribute("id"), token.accessible_name) == ("token", "Token")
    token.send_keys(TOKEN[::-1], Keys.ENTER)
    settle(chrome)
    assert "does not grant 'search'" in first(chrome, "#problem").text
    assert "Hold" in first(chrome, "#answer").text  # which it has the right for
    token.clear()
    token.send_keys(TOKEN, Keys.ENTER)
    settle(chrome)
    assert texts(chrome, "#matches .opener") == ["cafe"]
    assert first(chrome, "#problem").text == ""
    chrome.refresh()
    compare(chrome, NEAR)
    assert texts(chrome, "#matches .opener") == ["cafe"]
    assert chrome.execute_script("return [localStorage.length, document.cookie]") == [0, ""]


def test_what_is_wrong_is_a_line(chrome: Chrome) -> None:
    """No text, too much of it, the service away: what is wrong, and what to do."""
    compare(chrome, NEAR)
    compare(chrome, " \n")
    assert texts(chrome, "#problem p") == ["the text is missing; paste a text."]
    assert css(chrome, "#matches *, #answer *") == []  # those of another text
    assert first(chrome, "#problem").aria_role == "alert"
    compare(chrome, "words " * 200_000)
    assert first(chrome, "#problem").text.startswith("a request has at most 1,048,576 bytes; ")
    chrome.execute_cdp_cmd("Network.enable", {})
    conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    for is_offline in (True, False):
        chrome.execute_cdp_cmd(
            "Network.emulateNetworkConditions", {"offline": is_offline, **conditions}
        )
        compare(chrome, NEAR)
        assert ("the service does not answer" in first(chrome, "#problem").text) is is_offline


def test_an_older_answer_comes_too_late(chrome: Chrome) -> None:
    """What is asked last is shown, whichever answer comes last."""
    chrome.execute_script(
        """const send = fetch, late = [], held = new Promise((open) => { window.release = open; });
        window.fetch = (...sent) => {
          if (late.length === 2) return send(...sent);
          const answer = held.then(() => send(...sent));
          late.push(answer.then((one) => one.clone().json()));
          return answer;
        };
        window.come = async () => { release(); await Promise.all(late); };"""
    )
    put = "document.getElementById('text').value = arguments[0];"
    chrome.execute_script(f"{put} document.getElementById('form').requestSubmit()", NEAR)
    assert not first(chrome, "#go").is_enabled()
    compare(chrome, DOCUMENTS["ferry"], Keys.CONTROL, Keys.ENTER)
    assert texts(chrome, "#matches .opener") == ["ferry"]
    chrome.execute_async_script("come().then(() => setTimeout(arguments[0], 50))")  # to show it
    assert texts(chrome, "#matches .opener") == ["ferry"]


WORDS = {  # of texts that are not in their normal form
    CAFE: re.findall(r"\w+", CAFE.casefold()),
    NEAR: re.findall(r"\w+", NEAR.casefold()),
    "Straße\nÉCOLE ﬁn": ["strasse", "école", "fin"],
    "STRASSE e\u0301cole fin": ["strasse", "école", "fin"],
}


def test_differences_are_the_fewest(chrome: Chrome) -> None:
    """Words are those of the normal form, and the marks add up to their Levenshtein distance."""
    dice = random.Random(5)
    pairs = [(CAFE, NEAR), ("", "one"), ("a", "a"), ("Straße\nÉCOLE ﬁn", "STRASSE e\u0301cole fin")]
    for _ in range(60):
        two = [dice.choices("abcd", k=dice.randint(0, 30)) for _ in range(2)]
        pairs.append((" ".join(two[0]), " ".join(two[0][:7] + two[1])))
    found = chrome.execute_script(
        """return arguments[0].map(([one, other]) => {
          const [first, second] = [split(one), split(other)];
          return [first.forms, second.forms, compare(first.forms, second.forms)];
        })""",
        pairs,
    )
    for (one, other), (forms, others, steps) in zip(pairs, found, strict=True):
        known = [WORDS.get(text, text.split()) or [""] for text in (one, other)]
        assert [forms, others] == known
        changes = [steps[at : at + 3] for at in range(0, len(steps), 3)]
        assert sum(max(gone, new) for _, gone, new in changes) == Levenshtein.distance(*known)
        at = to = 0
        for equal, gone, new in changes:
            assert forms[at : at + equal] == others[to : to + equal]
            at, to = at + equal + gone, to + equal + new
        assert (at, to) == (len(forms), len(others))


def test_long_texts_stay_small(chrome: Chrome) -> None:
    """Of texts that differ much a part is shown, unmarked; of others what is around a change."""
    (near, far), characters = chrome.execute_script(
        """const words = Array.from({ length: 100_000 }, (_, at) => `word${at}`);
        const near = words.with(50_000, "changed").join(" "), far = words.toReversed().join(" ");
        const asked = { text: words.join(" ") };
        const drawn = [near, far].map((text) => drawDiff({ id: "1", text }, asked));
        const count = (one) => one.querySelectorAll(".diff :is(del, ins)").length;
        return [drawn.map(count), drawn.map((one) => one.textContent.length)];"""
    )
    assert (near, far) == (2, 0)
    assert max(characters) < 50_000


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (340, "light")])
def test_the_pages_can_be_read(place: Place, chrome: Chrome, width: int, scheme: str) -> None:
    """Text has enough contrast, fields and buttons have names, and nothing scrolls sideways."""
    resize(chrome, width, 900)
    prefer(chrome, scheme)
    compare(chrome, "")
    _see(chrome)
    for least in ("0.5", ""):  # each decision has its colours
        first(chrome, "#least").clear()
        first(chrome, "#least").send_keys(least)
        compare(chrome, f"{NEAR} {'x' * 300}" if least else DOCUMENTS["ferry"])
        _see(chrome)
    chrome.get(f"{place.address}docs")
    WebDriverWait(chrome, 20).until(lambda _: css(chrome, ".path"))
    assert "POST /check" in texts(chrome, "h2")
    _see(chrome)
    assert complaints(chrome) == []


def _see(chrome: Chrome) -> None:
    told = chrome.execute_script(CONTRASTS)
    assert len(told) > 5
    assert [name for contrast, name in told if contrast < READABLE] == []
    shown: list[Any] = css(chrome, "button, input, textarea, a")
    assert all(one.accessible_name for one in shown if one.is_displayed())
    assert not is_wider_than_the_window(chrome)


def test_solr_away_is_a_line(place: Place, chrome: Chrome) -> None:
    """Also when to ask again. This is the last test, as Solr stays away."""
    place.solr.close()

    def is_told(_: Chrome) -> bool:
        compare(chrome, NEAR)
        return css(chrome, "#answer *, #matches *") == []

    WebDriverWait(chrome, 30).until(is_told)
    assert len(css(chrome, "#problem p")) == 1
    assert first(chrome, "#problem").text.endswith(" Try again in 1 second.")
