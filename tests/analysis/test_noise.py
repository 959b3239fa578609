"""What changes without meaning anything is kept out of reports; what means something never is."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import noise
from sourcewatch.analysis.extract import extract
from sourcewatch.analysis.weigh import visible_edits
from sourcewatch.domain.change import Edit
from sourcewatch.domain.document import Block, Document, Form, Label

VERSIONS = Path(__file__).parent / "corpus" / "versions"
PROSE = tuple(f"The {word} of this page says something that will be cited." for word in ("first", "second", "third"))


def document(*blocks: str | Block, title: str = "") -> Document:
    return Document(Form.HTML, title=title, blocks=tuple(b if isinstance(b, Block) else Block(b) for b in blocks))


def judged(*versions: Document, protected: tuple[str, ...] = ()) -> list[str]:
    """The rules that suppress the edits between the last two versions, "" for an edit that is told."""
    *earlier, old, new = versions
    history = noise.rebuild([*earlier, old])
    return [e.suppressed_by for e in noise.suppress(visible_edits(old, new), old, new, history, protected)]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("Updated 18 minutes ago", "Updated 2 hours ago", "masked-time"),
        ("3 天前 · 来自北京", "5 天前 · 来自北京", "masked-time"),
        ("© 2025 Example Inc.", "© 2026 Example Inc.", "masked-time"),
        ("1,234 views · by the author", "1,240 views · by the author", "masked-counter"),
        ("阅读 1.2 万", "阅读 1.3 万", "masked-counter"),
        (
            "Trace Id: 91fda10b-1d6f-4a55-9c3e-0f8f7a1f7d00",
            "Trace Id: 7b2ec5aa-1d6f-4a55-9c3e-0f8f7a1f7d11",
            "masked-id",
        ),
        ("Effective 28 August 2025", "Effective August 28, 2025", "locale-date"),
        ("Effective 28 août 2025", "Effective 28 August 2025", "locale-date"),
        ("自 2025 年 8 月 28 日起生效", "自 2025-08-28 起生效", "locale-date"),
        ("We've said so", "We’ve said so", "typography"),
        ("one  two\u00a0three café", "one two three cafe\u0301", "whitespace"),
    ],
)
def test_what_moves_by_itself_is_masked(old: str, new: str, rule: str) -> None:
    assert judged(document(*PROSE, old), document(*PROSE, new)) == [rule]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Effective 28 August 2025", "Effective 29 August 2025"),
        ("Effective August 28, 2025", "Effective September 28, 2025"),
        ("up to 155 trillion tokens a day", "up to 160 trillion tokens a day"),
        ("命中率 80%", "命中率 82%"),
        ("3,000 cards serve the model", "4,000 cards serve the model"),
        ("You have 30 days to object", "You have 14 days to object"),
        ("Rate limit: 100 requests", "Rate limit: 200 requests"),
        ("5 年前成立的公司", "5 年后成立的公司"),
        ("We may share Customer Data with them", "We may share customer data with them"),
    ],
)
def test_what_means_something_is_told(old: str, new: str) -> None:
    assert judged(document(*PROSE, old), document(*PROSE, new)) == [""]
    assert not noise.same(document(*PROSE, old), document(*PROSE, new))


def test_a_text_that_comes_back_is_not_new() -> None:
    a, b = document(*PROSE, "Ask our sales team about it"), document(*PROSE, "Ask our partners in sales about it")
    assert judged(a, b) == [""]
    assert judged(a, b, a) == ["seen-before"]


def test_a_figure_that_comes_back_is_told_once_and_then_flaps() -> None:
    a, b = document(*PROSE, "Price: 10 euros a month"), document(*PROSE, "Price: 12 euros a month")
    assert judged(a, b) == [""]
    assert judged(a, b, a) == [""]
    assert judged(a, b, a, b) == ["seen-before"]
    assert judged(a, b, a, b, a) == ["seen-before"]


def test_a_cell_that_takes_the_value_of_another_cell_has_changed() -> None:
    old = document("Model one: supported since May", "Model two: 155", "Model three: 160")
    new = document("Model one: supported since May", "Model two: 160", "Model three: 160")
    assert judged(old, new) == [""]
    cells = [Block(text, path="table>td") for text in ("A", "yes, fully", "B", "no, not yet")]
    changed = [cells[0], Block("no, not yet", path="table>td"), *cells[2:]]
    assert "" in judged(document(*cells), document(*changed))


def test_a_banner_that_comes_and_goes_is_told_once() -> None:
    with_banner, without = document("We use cookies, as many pages do.", *PROSE), document(*PROSE)
    assert judged(without, with_banner) == [""]
    assert judged(without, with_banner, without) == ["passing"]
    assert judged(without, with_banner, without, with_banner) == ["seen-before"]
    assert judged(without, with_banner, without, with_banner, without) == ["flapping"]


def test_an_author_who_rewrites_what_he_added_is_no_passing_banner() -> None:
    old = document(*PROSE)
    added = document(*PROSE, "A sentence that the author added in a hurry.")
    rewritten = document(*PROSE, "What he then put there has not one word in common with it: 17%.")
    assert judged(old, added, rewritten) == ["", ""]


def test_an_error_page_between_two_versions_is_no_change_when_it_goes() -> None:
    good, bad = document(*PROSE), document("This page isn't available at the moment")
    assert set(judged(good, bad, good)) <= {"seen-before", "passing"}


def test_the_window_ends_after_thirty_versions() -> None:
    old = document(*PROSE, "An offer that was made once and long ago.")
    between = [document(*PROSE, f"Number {n} of the offers since.") for n in range(noise.WINDOW + 1)]
    assert set(judged(old, *between[:5], old)) == {"seen-before", "passing"}
    assert "" in judged(old, *between, old)


def test_a_list_of_links_that_always_changes_is_a_volatile_slot_and_prose_never_is() -> None:
    def version(n: int) -> Document:
        related = f"Related article number {n * 7} about other things"
        return document(*PROSE, Block(related, path="div.related>a", link_chars=len(related)))

    assert judged(*(version(n) for n in range(8))) == ["volatile-slot"]
    assert judged(*(document(*PROSE, f"Clause {n * 7} was amended as follows here.") for n in range(8))) == [""]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (
            Block("Home and other places", label=Label.CHROME),
            Block("Home and new places", label=Label.CHROME),
            "chrome",
        ),
        (Block("A whole paragraph"), Block("A whole paragraph"), None),
    ],
)
def test_chrome_is_noise(old: Block, new: Block, rule: str | None) -> None:
    assert judged(document(*PROSE, old), document(*PROSE, new)) == ([rule] if rule else [])


def test_boxes_in_another_order_are_noise() -> None:
    assert judged(document(*PROSE), document(PROSE[2], *PROSE[:2])) == ["reordered"]


def test_short_words_that_come_or_go_are_noise_and_short_figures_are_not() -> None:
    assert judged(document(*PROSE), document(*PROSE, "New!")) == ["short"]
    assert judged(document(*PROSE), document(*PROSE, "+11%")) == [""]
    assert judged(document(*PROSE, "更多"), document(*PROSE)) == ["short"]


def test_no_rule_hides_an_edit_inside_a_quote_or_its_neighbours() -> None:
    a, b = document(*PROSE, "They serve 1,234 views a day."), document(*PROSE, "They serve 1,240 views a day.")
    assert judged(a, b) == ["masked-counter"]
    for protected in ("1,234 views a day", "They serve 1,234", "THEY SERVE 1234 VIEWS"):
        assert judged(a, b, protected=(protected,)) == [""]
    assert not noise.same(a, b, ("1,234 views",))
    assert noise.same(a, b, ("third of this page",))


def test_a_quote_shields_itself_and_not_the_counter_beside_it() -> None:
    text = "They serve many a day. · 18 minutes ago"
    changed = text.replace("18", "19")
    assert judged(document(*PROSE, text), document(*PROSE, changed), protected=("They serve many",)) == ["masked-time"]


def test_a_quote_that_flaps_is_told_each_time() -> None:
    a, b = document(*PROSE, "The hit rate is 80%."), document(*PROSE, "The hit rate is 82%.")
    assert judged(a, b, a, b, a) == ["seen-before"]
    assert judged(a, b, a, b, a, protected=("hit rate is 80%",)) == [""]


def test_a_moved_quote_is_told() -> None:
    assert judged(document(*PROSE), document(PROSE[2], *PROSE[:2]), protected=(PROSE[2],)) == [""]


def test_hidden_text_is_not_compared() -> None:
    hidden = [Block(f"state {n}", label=Label.SCRIPT) for n in range(2)]
    assert visible_edits(document(*PROSE, hidden[0]), document(*PROSE, hidden[1])) == ()
    assert noise.same(document(*PROSE, hidden[0]), document(*PROSE, hidden[1]))


def test_a_document_says_the_same_when_only_clocks_differ() -> None:
    assert noise.same(document(*PROSE, "3 hours ago", ""), document(*PROSE, "4  hours ago"))
    assert not noise.same(document(*PROSE), document(*PROSE[:2]))
    assert not noise.same(document(*PROSE), document(PROSE[1], PROSE[0], PROSE[2]))


def test_the_state_survives_its_own_writing() -> None:
    history = noise.rebuild(document(*PROSE, f"Number {n} of many", title=f"Title {n}") for n in range(40))
    assert noise.History.from_json(history.to_json()) == history
    assert history.versions == 40


def test_state_of_other_rules_is_not_believed() -> None:
    state = json.loads(noise.History().to_json()) | {"rules": "noise@0"}
    assert noise.History.from_json(json.dumps(state)) is None


def test_the_state_of_a_huge_restless_page_stays_small() -> None:
    draw = random.Random(7)
    history = noise.History()
    for n in range(12):
        blocks = [Block(f"{draw.random()}", path=f"p{draw.randrange(3_000)}") for _ in range(3_000)]
        history = noise.step(history, document(*blocks, f"version {n}"))
    assert len(history.to_json()) <= 50_000


def test_the_last_thirty_versions_are_enough_to_rebuild_what_is_remembered() -> None:
    versions = [document(*PROSE, f"Number {n % 40} of the offers.") for n in range(70)]
    whole, rebuilt = noise.rebuild(versions), noise.rebuild(versions[-noise.WINDOW - 1 :])
    shift = whole.versions - rebuilt.versions
    assert {text: last - shift for text, last in whole.seen.items()} == dict(rebuilt.seen)


@pytest.mark.parametrize("unit", ["1,234,", "a", "0", "ago ", "2025-", "1 ", "updated "])
def test_no_mask_stalls_on_a_long_text(unit: str) -> None:
    assert noise.key(unit * 300_000)
    assert noise.key((unit * 300)[:300])


@given(st.text(max_size=320))
def test_a_key_is_its_own_key(text: str) -> None:
    assert noise.key(noise.key(text)) == noise.key(text)


BLOCKS = st.lists(st.sampled_from(PROSE) | st.text(max_size=20), max_size=6)


@given(BLOCKS, BLOCKS, st.lists(BLOCKS, max_size=3))
def test_suppressing_changes_nothing_but_the_name_of_the_rule(
    old: list[str], new: list[str], earlier: list[list[str]]
) -> None:
    before, after = document(*old), document(*new)
    history = noise.rebuild([*(document(*texts) for texts in earlier), before])
    edits = visible_edits(before, after)
    suppressed = noise.suppress(edits, before, after, history)
    assert [Edit(e.kind, e.old, e.new, e.parts, e.label) for e in suppressed] == list(edits)


def captures(folder: str, form: Form) -> list[Document]:
    paths = sorted((VERSIONS / folder).iterdir())
    return [extract(path.read_bytes(), form=form, url="https://example.org/") for path in paths]


def told(versions: list[Document]) -> list[int]:
    """How many edits each version tells, from the second on."""
    history = noise.step(noise.History(), versions[0])
    counts = []
    for old, new in pairwise(versions):
        edits = noise.suppress(visible_edits(old, new), old, new, history)
        counts.append(sum(not edit.suppressed_by for edit in edits))
        history = noise.step(history, new)
    return counts


def test_dated_captures_whose_bytes_differ_say_nothing_new() -> None:
    versions = captures("ota-brand", Form.HTML)
    assert told(versions) == [0, 0, 0]
    assert [noise.same(a, b) for a, b in pairwise(versions)] == [True, False, True]


def test_dated_versions_of_a_readme_each_tell_what_their_author_changed() -> None:
    counts = told(captures("open-infra-index", Form.MARKDOWN))
    link_only = {0, 6}  # only addresses of links differ
    assert all((count == 0) == (n in link_only) for n, count in enumerate(counts)), counts
