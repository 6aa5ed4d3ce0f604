"""The page for phones in a real browser: it comes in, chats, shows markup as text, and says what goes wrong."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.server.phone_page import WORDS
from engine.server.phones import Phones
from tests.support.chromium import PROGRAM, Chromium, chromium
from tests.support.model_server import Running, scripted_server

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")]
DONE = "!running && turns.length > 1 && turns.at(-1).role === 'assistant'"
TROUBLE = "!$('trouble').hidden && $('trouble').innerText"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Phones:
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TENON_LANGUAGE", "en")
    return Phones()


@pytest.fixture
def page(door: Phones) -> Iterator[Running]:
    with scripted_server(door=door) as running:
        yield running


@pytest.fixture
def web(browser: Chromium, page: Running, door: Phones) -> Iterator[Chromium]:
    """The page in a phone that came in."""
    browser.open("about:blank")
    browser.events.clear()
    browser.size(390, 844)
    browser.open(f"{page.address}/#{door.code}")
    browser.wait("kept.tenonKey && document.title === 'scripted'")
    yield browser
    assert browser.told("Runtime.exceptionThrown") == []
    asked = [event["request"]["url"] for event in browser.told("Network.requestWillBeSent")]
    assert [one for one in asked if not one.startswith((page.address, "data:"))] == [], "nothing from outside"
    refused = [event["entry"]["text"] for event in browser.told("Log.entryAdded")]
    assert [one for one in refused if "Content Security Policy" in one or "Trusted" in one] == []


def send(web: Chromium, text: str) -> None:
    web.press("#text")
    web.write(text)
    web.press("#go")


def shown(web: Chromium, text: str) -> Any:
    """Return the elements of a reply that Markdown becomes, as HTML."""
    return web.run(f"(() => {{ const made = make('div', {{}}, ...blocks({json.dumps(text)}).map(one => block(one)));"
                   " return made.innerHTML; })()")  # fmt: skip


def test_a_phone_comes_in_chats_and_finds_its_chat_again(web: Chromium, page: Running, door: Phones) -> None:
    assert web.run("location.href") == f"{page.address}/", "the code leaves the address"
    assert web.run("history.length") <= 2
    send(web, "say 5")
    web.wait(DONE)
    assert web.run("$('turns').innerText").split() == ["You", "say", "5", "scripted", *(f"w{n}" for n in range(5))]
    assert web.run("$('text').value + $('notice').textContent") == ""
    web.press("#text")
    web.write("half a tho")
    web.open(page.address)
    web.wait("document.title === 'scripted'")
    assert web.run("[turns.length, $('text').value]") == [2, "half a tho"]
    assert len(door.listed()) == 1, "the key is kept"
    web.agrees = False
    web.press("#new")
    assert web.run("turns.length") == 2, "it is asked first"
    web.agrees = True
    web.press("#new")
    assert web.run("[turns.length, $('turns').innerText, kept.tenonChat]") == [0, "", "[]"]
    web.run("$('about').open = true")
    web.press("#erase")
    web.wait("!kept.tenonKey && document.readyState === 'complete'")
    assert web.wait(TROUBLE) == WORDS["invalid_api_key"]
    assert web.run("Object.keys(localStorage).join()") == ""
    assert door.listed() == ()
    sent = json.dumps(web.told("Network.requestWillBeSent"))
    assert "#" not in "".join(event["request"]["url"] for event in web.told("Network.requestWillBeSent"))
    assert "Bearer" in sent


def test_a_reply_is_stopped_thoughts_are_folded_and_a_new_chat_ends_what_runs(web: Chromium, page: Running) -> None:
    send(web, "slow 100000")
    web.wait("turns.length === 2 && turns[1].content.length > 20")
    assert web.run("$('go').textContent") == "Stop"
    web.press("#go")
    web.wait("!running")
    assert web.run("turns[1].content.length > 20 && $('trouble').hidden && $('go').textContent === 'Send'")
    send(web, "think 6")
    web.wait("!running && turns.length === 4")
    assert web.run("views.at(-1).thoughts.hidden || views.at(-1).thoughts.open") is False
    assert web.run("turns[3].thought.trim().length > 0 && !turns[3].content.includes(turns[3].thought)")
    send(web, "slow 100000")
    web.wait("turns.length === 6 && turns[5].content")
    web.press("#new")
    assert web.run("turns.length") == 0
    send(web, "say 2")
    web.wait(DONE)
    assert web.run("turns.map(one => one.content.trim())") == ["say 2", "w0 w1"]
    assert page.link is not None
    while page.link.running:
        pass


EVIL = """<script>alert(1)</script><img src=x onerror=alert(1)>
[a](javascript:alert(1)) [b](data:text/html,x) ![c](http://127.0.0.1:1/x.png) <http://127.0.0.1:1/> [d](//evil)

<iframe src="http://127.0.0.1:1"></iframe>

| <b>x</b> | `<i>` |
|---|---|
| <svg onload=alert(1)> | [e](vbscript:x) |

```"><script>alert(1)</script>
</code></pre><script>alert(1)</script>\u202e\u200b
"""


def test_what_a_model_writes_is_text_and_never_markup(web: Chromium) -> None:
    made = shown(web, EVIL)
    assert "<script" not in made.replace("&lt;script", "")
    web.run(f"$('turns').append(make('div', {{}}, ...blocks({json.dumps(EVIL)}).map(one => block(one))))")
    names = web.run("[...new Set([...$('turns').querySelectorAll('*')].map(one => one.tagName))].join()").split(",")
    assert not {*names} - {"DIV", "P", "A", "CODE", "PRE", "SPAN", "BUTTON", "TABLE", "TR", "TH", "TD"}
    assert web.run("[...$('turns').querySelectorAll('a')].map(one => one.protocol).join()") == "http:,http:,http:"
    assert web.run("[...$('turns').querySelectorAll('*')].flatMap(one => [...one.attributes]).filter("
                   "one => one.name.startsWith('on') || one.name === 'src').length") == 0  # fmt: skip
    assert "⟨U+202E⟩⟨U+200B⟩" in web.run("$('turns').querySelector('pre').textContent")
    web.agrees = False
    web.run("$('turns').querySelector('a').click()")
    assert len(web.told("Page.javascriptDialogOpening")) == 1, "a link is asked about"
    assert web.told("Page.javascriptDialogOpening")[0]["message"].endswith("http://127.0.0.1:1/x.png")
    web.agrees = True


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A *b*\n---\ntext\nmore", "<h3>A <em>b</em></h3><hr><p>text\nmore</p>"),
        ("**a** __b__ *c* _d_ ~~e~~ `f*` ***g***", "<p><strong>a</strong> <strong>b</strong> <em>c</em> <em>d</em> "
         "<s>e</s> <code>f*</code> <strong><em>g</em></strong></p>"),
        ("2 * 3 * 4 snake_case_name \\*x\\*", "<p>2 * 3 * 4 snake_case_name *x*</p>"),
        ("1. a\n   - b\n   - c\n2. d\n\n   e", '<ol start="1"><li><p>a</p><ul><li><p>b</p></li><li><p>c</p></li></ul>'
         "</li><li><p>d</p><p>e</p></li></ol>"),
        ("1. a\n- b\n2. c", '<ol start="1"><li><p>a</p></li></ol><ul><li><p>b</p></li></ul><ol start="2"><li><p>c</p>'
         "</li></ol>"),
        ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
        ("a|b\n-|-\n1|", '<div tabindex="0" class="table"><table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr>'
         "</table></div>"),
    ],
)  # fmt: skip
def test_markdown_becomes_elements(web: Chromium, text: str, html: str) -> None:
    assert sorted(shown(web, text)) == sorted(html)
    assert shown(web, text).replace('class="table" tabindex="0"', 'tabindex="0" class="table"') == html


def test_no_text_makes_the_browser_search_for_ever(web: Chromium) -> None:
    for text in ("**a " * 30_000, "`" * 100_000, "[" * 100_000, "> " * 5_000, "* " * 20_000, "_a" * 50_000):
        web.run(f"make('div', {{}}, ...blocks({json.dumps(text)}).map(one => block(one))).textContent.length")
    for text in ("- a\n" * 20_000, "```\n" * 20_000, "a|b\n-|-\n" * 5_000, "#" * 100_000, "1. x\n\n" * 10_000):
        web.run(f"make('div', {{}}, ...blocks({json.dumps(text)}).map(one => block(one))).textContent.length")


def test_code_is_copied_as_it_is_over_http_too(web: Chromium) -> None:
    web.run("$('turns').append(block('```js\\nlet a\\u200b = 1;\\n```'))")
    web.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    web.run("window.copied = ''; document.oncopy = () => { copied = document.activeElement.value; }")
    web.press(".code button")
    assert web.run("[copied, $('notice').textContent]") == ["let a\u200b = 1;", "Copied."]


def test_each_trouble_is_a_sentence_and_the_text_is_sent_again(
    web: Chromium, page: Running, door: Phones, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = "\n\nSend again"
    send(web, "die")
    assert web.wait(TROUBLE) == WORDS["engine_stopped"] + again
    web.run("turns[0].content = 'say 3'")
    web.press("#trouble button")
    web.wait(DONE)
    assert web.run("turns.map(one => one.content.trim())") == ["say 3", "w0 w1 w2"]
    assert web.run("$('trouble').hidden")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    web.send("Network.emulateNetworkConditions", **offline)
    send(web, "say 2")
    assert web.wait(TROUBLE) == WORDS["gone"] + again
    web.send("Network.emulateNetworkConditions", **{**offline, "offline": False})
    web.press("#trouble button")
    web.wait("!running && turns.length === 4")
    send(web, "slow 100000")
    web.wait("turns.length === 6 && turns[5].content")
    door.remove()
    assert web.wait(TROUBLE) == WORDS["broken"] + again
    web.press("#trouble button")
    web.wait(f"{TROUBLE} !== {json.dumps(WORDS['broken'] + again)}")
    assert web.wait(TROUBLE) == WORDS["invalid_api_key"] + again
    web.run("turns.at(-1).content = 'say 2'")
    web.run(f"location.hash = '{door.code}'")  # the next code is scanned while the page is open
    web.wait("$('notice').textContent === words.entered && !$('trouble').hidden")
    web.press("#trouble button")
    web.wait("!running && turns.length === 6")
    assert web.run("turns.at(-1).content.trim()") == "w0 w1"
    web.run("location.hash = 'used-code'")
    web.wait("location.hash === ''")
    assert web.run("turns.length") == 6
    assert page.server is not None
    page.stop()
    send(web, "say 1")
    assert web.wait(TROUBLE) == WORDS["gone"] + again


def test_a_reply_that_was_cut_off_by_closing_the_page_is_there_and_said(web: Chromium, page: Running) -> None:
    send(web, "slow 100000")
    web.wait("turns.length === 2 && JSON.parse(kept.tenonChat)[1]?.content")
    web.open(page.address)
    assert web.wait(TROUBLE) == WORDS["broken"] + "\n\nSend again"
    assert web.run("turns[1].content.startsWith('w0')")


@pytest.mark.parametrize("size", [(360, 640), (390, 844), (844, 390), (320, 568)])
@pytest.mark.parametrize("scale", [100, 200])
def test_everything_has_its_place_on_small_screens_with_large_text(
    web: Chromium, page: Running, size: tuple[int, int], scale: int
) -> None:
    web.size(*size)
    web.run(f"document.documentElement.style.fontSize = '{scale}%'")
    web.run("turns = [{role: 'user', content: 'x'.repeat(500)}, {role: 'assistant', content: "
            "'```\\n' + 'y'.repeat(500) + '\\n```\\n\\n' + 'w'.repeat(400) + '\\n\\n|a|\\n|-|\\n|' + 'z'.repeat(90)}];"
            "showAll(); fail('e'.repeat(300)); $('camera').hidden = false;")  # fmt: skip
    wide = "[document.documentElement, document.body, $('log')].map(one => one.scrollWidth - one.clientWidth)"
    assert web.run(wide) == [0, 0, 0]
    web.size(size[0], 300)  # the keyboard is open
    web.run("$('text').focus()")
    for part in ("text", "go", "new"):
        box = web.run(f"(one => [one.left, one.top, one.right, one.bottom])($('{part}').getBoundingClientRect())")
        assert box[0] >= 0, part
        assert box[0] < box[2] <= size[0], part
        assert box[1] >= -1 or (part, scale) == ("new", 200), part
    assert web.run("document.documentElement.scrollHeight - innerHeight") <= 0 or scale > 100


def test_a_screen_reader_finds_names_and_hears_the_reply_once(web: Chromium) -> None:
    web.run("$('camera').hidden = false; $('about').open = true")
    send(web, "say 3")
    web.wait(DONE)
    assert web.run("$('status').textContent.trim()") == "w0 w1 w2"
    web.run("fail(words.gone)")
    nodes = web.send("Accessibility.getFullAXTree")["nodes"]
    named = [(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes if not one.get("ignored")]
    kinds = {role for role, _ in named}
    assert {"button", "textbox", "heading", "alert", "status", "article", "main"} <= kinds
    for role, name in named:
        assert name or role not in ("button", "textbox", "link", "heading", "image", "DisclosureTriangle"), (role, name)
    assert ("textbox", "Message") in named
    assert web.run("document.documentElement.lang") == "en"


def test_a_picture_is_scaled_down_and_sent_where_the_model_sees(web: Chromium, tmp_path: Path) -> None:
    assert web.run("$('camera').hidden"), "this one does not"
    photo = tmp_path / "photo.png"
    made = web.run("make('canvas', {width: 3000, height: 1500}).toDataURL('image/png')")
    photo.write_bytes(base64.b64decode(made.partition(",")[2]))
    web.run("sees = true; $('camera').hidden = false")
    root = web.send("DOM.getDocument")["root"]["nodeId"]
    node = web.send("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    wrong = tmp_path / "wrong.png"
    wrong.write_bytes(os.urandom(100))
    web.send("DOM.setFileInputFiles", nodeId=node, files=[str(wrong)])
    web.wait("$('notice').textContent === words.picture_wrong")
    web.send("DOM.setFileInputFiles", nodeId=node, files=[str(photo)])
    web.wait("!$('shot').hidden && $('shot').firstChild.naturalWidth")
    sides = "['naturalWidth', 'naturalHeight'].map(side => $('shot').firstChild[side])"
    assert web.run(sides) == [1024, 512]
    send(web, "say 1")
    assert web.run("turns[0].picture.startsWith('data:image/jpeg;base64,') && $('shot').hidden")
    web.wait("!running")
    posted = [json.loads(event["request"]["postData"]) for event in web.told("Network.requestWillBeSent")
              if event["request"]["url"].endswith("/v1/chat/completions")]  # fmt: skip
    text, picture = posted[-1]["messages"][0]["content"]
    assert text == {"type": "text", "text": "say 1"}
    assert picture["image_url"]["url"] == web.run("turns[0].picture")
    web.run("kept = new Proxy({}, {set(made, name, value) { if (value.length > 300) throw Error('full');"
            " made[name] = value; return true; }}); keep()")  # fmt: skip
    assert web.run("$('notice').textContent") == WORDS["full"]
    assert web.run("JSON.parse(kept.tenonChat)[0]") == {"role": "user", "content": "say 1"}, "the text has room"
