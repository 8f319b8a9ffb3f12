"""The page of a review in a real browser: keys, hostile texts, a server that is gone."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import neardup_solr as nd
from tests.browser.conftest import Chrome, broken_words, prefer, resize
from tests.browser.pages import reuse_of
from tests.browser.test_page import CONTRASTS, READABLE
from tests.reviews import BY_NAME, MEMBERS, make_people, reviewing

HOSTILE = """id,name,text
"<b>1</b>","<script>window.evil = 1</script>","Lantern Court <img src=x onerror='window.evil = 2'> 12 Harbour Street \u202e fish and chips"
2,"</section><script>window.evil = 3</script>","Lantern Court 12 Harbour Street fish and chips daily"
3,,"Lantern Court 12 Harbour Street fish and chips"
"""  # noqa: E501


def wait(chrome: Chrome, condition: Any) -> Any:
    return WebDriverWait(chrome, 20).until(condition)


def shown(chrome: Chrome) -> str:
    """The question, once the page is not busy."""
    wait(chrome, lambda c: c.find_element(By.ID, "question").get_attribute("aria-busy") == "false")
    return chrome.find_element(By.ID, "question").text


def press(chrome: Chrome, key: str) -> str:
    before = chrome.find_element(By.ID, "question").text
    chrome.find_element(By.TAG_NAME, "body").send_keys(key)
    wait(chrome, lambda c: c.find_element(By.ID, "question").text != before)
    return shown(chrome)


@pytest.fixture
def chrome(chromium: Chrome) -> Chrome:
    resize(chromium, 1200, 900)
    prefer(chromium, "light")
    chromium.get("about:blank")
    return chromium


def test_answers_by_keys(chrome: Chrome, tmp_path: Path) -> None:
    """An answer for each key; back asks again, skip asks later, and a new load shows the same."""
    path = tmp_path / "answers.jsonl"
    with reviewing(path, 4) as address:
        chrome.get(address)
        first = shown(chrome)
        assert "%" not in first  # a guess would lead whoever answers
        assert chrome.find_elements(By.CSS_SELECTOR, "td del")
        told = press(chrome, "s")
        assert "You said “same”" in told
        assert "% similar" in told
        assert first in press(chrome, "b")
        press(chrome, "d")
        press(chrome, "u")
        later = shown(chrome)
        press(chrome, "k")
        chrome.refresh()
        assert shown(chrome) != later
        assert "2 of 6 answered: 0 same, 1 different, 1 unsure" in bar(chrome)
        chrome.find_element(By.CSS_SELECTOR, "[data-say=same]").send_keys(Keys.ENTER)
        wait(chrome, lambda c: "1 same" in c.find_element(By.ID, "bar").text)
    assert [*latest(path).values()] == ["same", "unsure", "different"]


def bar(chrome: Chrome) -> str:
    return chrome.find_element(By.ID, "bar").text


def latest(path: Path) -> dict[str, str]:
    """The answers that count, by both ids."""
    return {f"{one.id}-{one.other_id}": one.answer for one in nd.Answers(path).latest}


def is_asked(chrome: Chrome) -> bool:
    return chrome.find_element(By.ID, "sure").is_displayed()


def test_each_key_is_undone_on_the_screen_and_in_the_file(chrome: Chrome, tmp_path: Path) -> None:
    """Answers, skips and groups, also in a tab that was opened again or is a second one."""
    path = tmp_path / "answers.jsonl"
    earlier = nd.types.Answer(
        id="0", other_id="3", answer="different", when=datetime(2020, 1, 1, tzinfo=UTC)
    )
    path.write_bytes(earlier.to_line())
    with reviewing(path, 4) as address:
        chrome.get(address)
        first = shown(chrome)
        assert "Nothing more to undo" in press(chrome, "b")
        for key in "sdu":
            press(chrome, key)
            assert len(latest(path)) == 2
            assert first in press(chrome, "b")
            assert latest(path) == {"0-3": "different"}
            assert "1 of 6 answered: 0 same, 1 different" in bar(chrome)
        assert "Skipped" in press(chrome, "k")
        assert "that you skipped" in press(chrome, "b")
        for _ in range(2):  # a group is asked about in view of its records, and closes
            chrome.find_element(By.TAG_NAME, "body").send_keys("a")
            assert is_asked(chrome)
            records = chrome.find_elements(By.CSS_SELECTOR, "#sure-records > li")
            assert len(records) == 4
            assert all("Lantern" in record.text for record in records)
            assert "also for 1 pair answered" in chrome.find_element(By.ID, "sure-text").text
            ActionChains(chrome).send_keys(Keys.ESCAPE).perform()
            assert not is_asked(chrome)
        assert latest(path) == {"0-3": "different"}
        ActionChains(chrome).send_keys("a").perform()
        ActionChains(chrome).send_keys("s").perform()
        wait(chrome, lambda c: "6 same" in bar(c))
        assert {*latest(path).values()} == {"same"}
        tab = chrome.current_window_handle
        chrome.switch_to.new_window("tab")
        second = chrome.current_window_handle
        chrome.switch_to.window(tab)
        chrome.close()
        chrome.switch_to.window(second)
        chrome.get(address)
        shown(chrome)
        assert "6 answers are no longer saved" in press(chrome, "b")
        assert latest(path) == {"0-3": "different"}  # which counts again
        chrome.switch_to.new_window("tab")
        chrome.get(address)
        shown(chrome)
        press(chrome, "d")
        third = chrome.current_window_handle
        chrome.switch_to.window(second)
        wait(chrome, lambda c: "2 different" in bar(c))
        press(chrome, "b")
        assert latest(path) == {"0-3": "different"}
        chrome.switch_to.window(third)
        wait(chrome, lambda c: "1 different" in bar(c))
        chrome.close()
        chrome.switch_to.window(second)


def test_texts_do_nothing_but_show(chrome: Chrome, tmp_path: Path) -> None:
    """Scripts in texts, columns and ids are shown, not run; direction marks are seen."""
    path = tmp_path / "answers.jsonl"
    with reviewing(path, 0, "--keep", "name", lines=HOSTILE) as address:
        chrome.get(address)
        seen = [shown(chrome)]
        for _ in range(2):
            seen.append(press(chrome, "d"))
        assert any("<script>window.evil" in one for one in seen)
        assert any("U+202E" in one for one in seen)
        assert chrome.execute_script("return window.evil") is None


COLUMNS = f"""id,name,description
1,Ferry to the islands,{"a long text about the harbour " * 9}
2,Ferry to the island,{"a long text about the harbours " * 9}
3,Ferry to islands,{"a long text of the harbour " * 9}
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("lines", ["", COLUMNS], ids=["texts", "columns"])
def test_names_of_fields_are_not_broken(
    chrome: Chrome, tmp_path: Path, lines: str, width: int
) -> None:
    """However long the values beside them are."""
    resize(chrome, width, 800)
    with reviewing(tmp_path / "answers.jsonl", 4, lines=lines) as address:
        chrome.get(address)
        shown(chrome)
        names = "#question .fields tr > :first-child"
        assert len(chrome.find_elements(By.CSS_SELECTOR, names)) > 1
        assert broken_words(chrome, names) == []
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width


FOR_EXPERTS = ("at first", "together", "threshold", "bits", "wedge", "diameter", "bridge")
PEOPLE = ("--field", "name,street,born:date")


def test_passages_of_long_texts_are_side_by_side(chrome: Chrome, tmp_path: Path) -> None:
    """Of texts of 100,000 words that share some, the passages are marked and lead to each other."""
    lines = "".join(f"{id},{text}\n" for id, text in reuse_of(100_000).items())
    part = "--measure", "containment", "--min-similarity", "0.0005", "--by", "all"
    with reviewing(tmp_path / "a.jsonl", 0, *part, lines=f"id,text\n{lines}") as address:
        chrome.get(address)
        assert "2 passages in common" in shown(chrome)
        columns = chrome.find_elements(By.CSS_SELECTOR, ".passages .column")
        passages = chrome.find_elements(By.CSS_SELECTOR, ".passages .passage")
        assert len(passages) == 4
        chrome.execute_script(
            "for (const each of arguments) each.style.maxHeight = '6rem'", *columns
        )
        passages[0].click()
        assert columns[1].get_property("scrollTop") > 100  # type: ignore[operator]


def test_what_is_only_shown_is_no_evidence(chrome: Chrome, tmp_path: Path) -> None:
    """Kept columns stand apart, and no sentence of the guess names them."""
    lines = make_people().replace("born\n", "born,seat\n", 1)
    lines = re.sub(r"(\d)$", r"\1,window", lines, flags=re.MULTILINE)
    with reviewing(tmp_path / "a.jsonl", 0, *PEOPLE, "--keep", "seat", lines=lines) as address:
        chrome.get(address)
        names = chrome.find_elements(By.CSS_SELECTOR, "#question tbody th") if shown(chrome) else []
        assert [name.text for name in names][:3] == ["name", "street", "born"]
        assert [name.text for name in names][4:] == ["seat"]
        assert "not compared" in names[3].text
        seen = press(chrome, "s").lower()
        assert not [word for word in FOR_EXPERTS if word in seen]
        chrome.find_element(By.CSS_SELECTOR, ".did summary").click()
        told = chrome.find_element(By.CSS_SELECTOR, ".did").text
        assert "What speaks for “same”" in told
        assert "seat" not in told


def test_the_decisive_column_and_the_buttons_are_seen_together(
    chrome: Chrome, tmp_path: Path
) -> None:
    """On a phone, also below what an answer taught, and beside long kept texts."""
    resize(chrome, 390, 844)
    note = "a long remark about this person " * 30
    lines = re.sub(r"(\d)$", rf"\1,{note}", make_people(), flags=re.MULTILINE)
    lines = lines.replace("born\n", "born,note\n", 1)
    with reviewing(tmp_path / "a.jsonl", 0, *PEOPLE, "--keep", "note", lines=lines) as address:
        chrome.get(address)
        shown(chrome)
        for key in " sdsd":
            if key != " ":
                press(chrome, key)
            bottom = chrome.find_element(By.CSS_SELECTOR, "#question > .wide tbody tr").rect
            buttons = chrome.find_element(By.ID, "answers").rect
            top = chrome.execute_script("return scrollY")
            assert 0 < bottom["y"] - top + bottom["height"] <= buttons["y"] - top
            assert buttons["y"] - top + buttons["height"] <= 844
        assert chrome.find_element(By.CSS_SELECTOR, ".did b").text


def test_a_clean_file_without_a_terminal(chrome: Chrome, tmp_path: Path) -> None:
    """The button names the file, asks before it replaces one, and says what it wrote."""
    clean, model = tmp_path / "table.clean.csv", tmp_path / "table.model.json"
    clean.write_text("mine")
    with reviewing(tmp_path / "a.jsonl", 0, *PEOPLE, lines=make_people()) as address:
        chrome.get(address)
        shown(chrome)
        press(chrome, "d")
        chrome.find_element(By.CSS_SELECTOR, "[data-say=finish]").click()
        assert "1 answer saved: 0 same, 1 different" in chrome.find_element(By.ID, "question").text
        assert clean.name in chrome.find_element(By.CSS_SELECTOR, ".round").text
        _, write, save = chrome.find_elements(By.CSS_SELECTOR, ".output button")
        assert (write.text, save.text) == ("Write the clean file", "Save the model")
        save.click()
        wait(chrome, lambda c: c.find_element(By.ID, "problem").is_displayed())
        assert "1 different" in chrome.find_element(By.ID, "problem").text
        write.click()
        wait(chrome, is_asked)
        assert "exists" in chrome.find_element(By.ID, "sure-text").text
        ActionChains(chrome).send_keys("s").perform()  # as if a pair were still answered
        assert is_asked(chrome)
        chrome.find_element(By.CSS_SELECTOR, "[data-say=close]").click()
        assert clean.read_text() == "mine"
        write.click()
        wait(chrome, is_asked)
        chrome.find_element(By.CSS_SELECTOR, "[data-say=yes]").click()
        # The guard asks about parents and children, who differ in their days of birth.
        wait(chrome, lambda c: is_asked(c) and "born" in c.find_element(By.ID, "sure-text").text)
        assert clean.read_text() == "mine"
        chrome.find_element(By.CSS_SELECTOR, "[data-say=yes]").click()
        wait(chrome, lambda c: "is in the folder" in c.find_element(By.ID, "written").text)
        told = chrome.find_element(By.ID, "written").text
        assert f"{len(clean.read_text().splitlines()) - 1} of 92 records" in told
        assert str(tmp_path) in told
        press(chrome, "d")
        assert chrome.find_element(By.ID, "written").text == told
    assert not model.exists()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_values_are_chosen_by_keys_and_by_buttons(
    chrome: Chrome, tmp_path: Path, width: int, scheme: str
) -> None:
    """Of a group at a time, which can be skipped and undone, up to the clean file."""
    resize(chrome, width, 844)
    prefer(chrome, scheme)
    clean = tmp_path / "table.clean.csv"
    lines = MEMBERS.replace("030 1234", "<b>030</b>\u202e 1234")
    with reviewing(tmp_path / "a.jsonl", 0, *BY_NAME, lines=lines) as address:
        chrome.get(address)
        pair = shown(chrome)
        chrome.find_element(By.CSS_SELECTOR, "[data-say=finish]").click()
        chrome.find_element(By.CSS_SELECTOR, ".output button").click()
        wait(chrome, lambda c: c.find_elements(By.CSS_SELECTOR, ".values"))
        first = shown(chrome)
        assert "2 groups" in bar(chrome)
        assert "<b>030</b>U+202E 1234" in first
        assert "2 of 3 records: 1, 3 – taken if you skip" in first
        legends = chrome.find_elements(By.CSS_SELECTOR, ".values legend")
        assert [legend.text for legend in legends] == ["street", "phone", "updated"]
        radios = chrome.find_elements(By.CSS_SELECTOR, ".values input")
        assert [radio.is_selected() for radio in radios] == [True, False] * 2 + [True, False, False]
        assert all(radio.accessible_name for radio in radios)
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
        told = chrome.execute_script(CONTRASTS)
        assert [name for contrast, name in told if contrast < READABLE] == []
        ActionChains(chrome).send_keys(Keys.TAB, Keys.ARROW_DOWN).perform()  # the other street
        assert radios[1].is_selected()
        radios[3].find_element(By.XPATH, "..").click()
        assert radios[3].is_selected()
        assert "Saved" in press(chrome, "s")
        assert "1 group" in bar(chrome)
        assert "Skipped" in press(chrome, "k")
        assert "you skipped" in press(chrome, "b")
        assert "Undone" in press(chrome, "b")
        ActionChains(chrome).send_keys("d").perform()  # says nothing of a value
        assert chrome.find_elements(By.CSS_SELECTOR, ".values input")[0].is_selected()
        chrome.find_elements(By.CSS_SELECTOR, ".values input")[3].click()
        press(chrome, "s")
        assert "chosen, or skipped" in press(chrome, "k")
        write = chrome.find_element(By.CSS_SELECTOR, ".output button")
        assert write.text == "Write the clean file"
        write.click()
        wait(chrome, lambda c: "is in the folder" in c.find_element(By.ID, "written").text)
        told = chrome.find_element(By.ID, "written").text
        assert "3 values chosen" in told
        assert "table.clean.values.csv" in told
        buttons = chrome.find_elements(By.CSS_SELECTOR, "#question .answers button")
        assert [one.text.split()[0] for one in buttons] == ["Go", "Back", "To"]
        buttons[2].click()
        wait(chrome, lambda c: not c.find_elements(By.CSS_SELECTOR, "#question > .answers"))
        assert shown(chrome) == pair
        assert latest(tmp_path / "a.jsonl") == {}
    assert "1,Marta Linsen,12 Mill Road,Bonn,<b>030</b>\u202e 1234," in clean.read_text()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_it_fits_a_phone_and_the_dark(
    chrome: Chrome, tmp_path: Path, width: int, scheme: str
) -> None:
    resize(chrome, width, 800)
    prefer(chrome, scheme)
    with reviewing(tmp_path / "answers.jsonl", 6) as address:
        chrome.get(address)
        shown(chrome)
        press(chrome, "s")
        wide = "return document.documentElement.scrollWidth"
        assert chrome.execute_script(wide) <= width
        assert "1 same" in chrome.find_element(By.ID, "bar").text  # also on a phone


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_and_heard(chrome: Chrome, tmp_path: Path, scheme: str) -> None:
    """Text has enough contrast, parts have names, and a new question is read out once."""
    prefer(chrome, scheme)
    with reviewing(tmp_path / "answers.jsonl", 5) as address:
        chrome.get(address)
        shown(chrome)
        question = chrome.find_element(By.ID, "question")
        assert chrome.switch_to.active_element == question
        ActionChains(chrome).send_keys(Keys.TAB).perform()
        assert chrome.switch_to.active_element.text.startswith("All 5 records")
        press(chrome, "s")
        chrome.find_element(By.CSS_SELECTOR, "[data-say=finish]").click()
        buttons = chrome.find_elements(By.TAG_NAME, "button")
        assert all(one.accessible_name for one in buttons if one.is_displayed())
        chrome.find_element(By.TAG_NAME, "body").send_keys("a")
        told = chrome.execute_script(CONTRASTS)
        assert len(told) > 20
        assert [name for contrast, name in told if contrast < READABLE] == []
        buttons = chrome.find_elements(By.CSS_SELECTOR, "#sure button")
        assert all(one.accessible_name for one in buttons)
        ActionChains(chrome).send_keys(Keys.ESCAPE).perform()
        assert (question.aria_role, question.accessible_name) == (
            "region",
            "Are these records the same?",
        )
        assert len(chrome.find_elements(By.CSS_SELECTOR, "[aria-live]")) == 1
        assert not chrome.find_elements(By.CSS_SELECTOR, "th:not([scope]), th:empty")
        same = chrome.find_element(By.CSS_SELECTOR, "[data-say=same]")
        same.send_keys(Keys.ENTER)
        wait(chrome, lambda c: "2 same" in c.find_element(By.ID, "bar").text)
        assert chrome.switch_to.active_element == same  # to press it again


def test_keys_of_other_letters(chrome: Chrome, tmp_path: Path) -> None:
    """On a Russian keyboard, the key of S is that of Ы."""
    with reviewing(tmp_path / "answers.jsonl") as address:
        chrome.get(address)
        shown(chrome)
        event = "new KeyboardEvent('keydown', {key: 'ы', code: 'KeyS', bubbles: true})"
        chrome.execute_script(f"document.body.dispatchEvent({event})")
        wait(chrome, lambda c: "1 same" in c.find_element(By.ID, "bar").text)


def test_a_server_that_is_gone_is_told(chrome: Chrome, tmp_path: Path) -> None:
    with reviewing(tmp_path / "answers.jsonl") as address:
        chrome.get(address)
        shown(chrome)
    chrome.find_element(By.TAG_NAME, "body").send_keys("s")
    wait(chrome, lambda c: "cannot be reached" in c.find_element(By.ID, "problem").text)


def test_a_wrong_token_is_told(chrome: Chrome, tmp_path: Path) -> None:
    with reviewing(tmp_path / "answers.jsonl") as address:
        chrome.get(address[:-3] + "xyz")
        wait(chrome, lambda c: "the token is wrong" in c.find_element(By.ID, "problem").text)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_end_says_what_nobody_has_looked_at(chrome: Chrome, tmp_path: Path, width: int) -> None:
    """One button asks about these, and the bar is not full before; then the page says so."""
    resize(chrome, width, 900)
    with reviewing(tmp_path / "a.jsonl", 0, *PEOPLE, lines=make_people()) as address:
        chrome.get(address)
        shown(chrome)
        press(chrome, "u")
        chrome.find_element(By.CSS_SELECTOR, "[data-say=finish]").click()
        rest = ".round .rest"
        wait(chrome, lambda c: "looked at" in c.find_element(By.CSS_SELECTOR, rest).text)
        text = chrome.find_element(By.CSS_SELECTOR, rest).text
        left = int(re.findall(r"(\d+) records? would be left out", text)[0])
        assert "stays apart" in text
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
        chrome.find_element(By.CSS_SELECTOR, f"{rest} button").click()
        wait(chrome, lambda c: "left to look at" in bar(c))
        assert f"{left} record" in bar(chrome)
        for _ in range(left + 5):
            assert chrome.execute_script("return progress.value < progress.max")
            press(chrome, "d")
            if "left to look at" not in bar(chrome):
                break
        wait(chrome, lambda c: "Somebody has looked" in c.find_element(By.CSS_SELECTOR, rest).text)
        assert not chrome.find_elements(By.CSS_SELECTOR, f"{rest} button")
