"""sources.toml is read strictly: each fault is told with file, line and key, all of them at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.adapters import config, config_values, toml_lines
from sourcewatch.domain.errors import ConfigError

ROOT = Path(__file__).parents[2]
HEAD = '[site]\nname = "N"\n[tiers.A]\ntitle = "official"\nevery = "6h"\n'  # lines 1–5
ROW = '[[source]]\nid = "a"\ntier = "A"\ntitle = "T"\nurl = "https://a.example/"\n'  # lines 6–10


def faults(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> list[str]:
    path = tmp_path / "sources.toml"
    path.write_text(text, encoding="utf-8")
    try:
        config.load(path, environ or {}, lambda css: "no" if css == "p[" else None)
    except ConfigError as error:
        return [f.removeprefix(f"{path}:") for f in error.faults]
    return []


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        (HEAD + ROW + 'colour = "red"\n', 11, "source.colour", "unknown key"),
        (HEAD + ROW + ROW, 12, "source.id", "used twice"),
        (HEAD + ROW.replace('"a"', '"../a"'), 7, "source.id", "lower-case letters"),
        (HEAD + ROW.replace('"a"', '"_checks"'), 7, "source.id", "lower-case letters"),
        (HEAD + ROW.replace('"a"', '"A"'), 7, "source.id", "lower-case letters"),
        (HEAD + ROW.replace("https://a.example/", "a.example"), 10, "source.url", "not an address"),
        (HEAD + ROW.replace("https://a.example/", "ftp://a.example/"), 10, "source.url", "not an http"),
        (HEAD + ROW.replace("https://a.example/", "https://u:p@a.example/"), 10, "source.url", "password"),
        (HEAD + ROW.replace("https://a.example/", ""), 10, "source.url", "may not be empty"),
        (HEAD + ROW + 'every = "soon"\n', 11, "source.every", "not a duration"),
        (HEAD + ROW + "every = 6\n", 11, "source.every", "not a duration"),
        (HEAD + ROW + 'every = "0s"\n', 11, "source.every", "not a duration"),
        (HEAD + ROW + 'cron = "0 9 * * 1"\n', 11, "source.cron", "day names"),
        (HEAD + ROW + 'every = "1h"\ncron = "0 9 * * mon"\n', 12, "source.cron", "exclude each other"),
        (HEAD + ROW.replace('tier = "A"', 'tier = "Z"'), 8, "source.tier", "no [tiers.Z]"),
        (HEAD + ROW + 'parent = "b"\n', 11, "source.parent", "not another source"),
        (HEAD + ROW + 'parent = "a"\n', 11, "source.parent", "not another source"),
        (HEAD + ROW + 'kind = "figure"\n', 11, "source.kind", "needs a parent"),
        (HEAD + ROW + 'mirror_of = "b"\n', 11, "source.mirror_of", "not another source"),
        (HEAD + ROW + '[[archive]]\nname = "x"\n', 12, "archive.name", "needs a timegate or a timemap"),
        (HEAD + ROW + '[[archive]]\nname = "x"\ntimegate = "https://a.example/"\n', 13, "archive.timegate", "{url}"),
        (HEAD + ROW + 'render = "sometimes"\n', 11, "source.render", "'never', 'auto' or 'always'"),
        (HEAD + ROW + 'select = "p["\n', 11, "source.select", "not a CSS selector"),
        (HEAD + ROW + 'headers = { Cookie = "${TOKEN}" }\n', 11, "source.headers.Cookie", "no TOKEN"),
        (HEAD + ROW + 'headers = { "X Y" = "1" }\n', 11, "source.headers.X Y", "not a header"),
        (HEAD + ROW + '[[source.quote]]\nexact = ""\n', 12, "source.quote.exact", "no letter and no digit"),
        (HEAD + ROW + '[[source.quote]]\nexact = " \u200b "\n', 12, "source.quote.exact", "no letter and no digit"),
        (HEAD + ROW + f'[[source.quote]]\nexact = "{"word " * 500}"\n', 12, "source.quote.exact", "longer than 2000"),
        (HEAD + ROW + 'cron = "99 99 * * mon"\n', 11, "source.cron", "not a schedule"),
        (HEAD + ROW + 'cron = "*/0 * * * *"\n', 11, "source.cron", "not a schedule"),
        (HEAD + ROW + 'cron = "0 9 31 2 *"\n', 11, "source.cron", "never due"),
        (HEAD + ROW + 'cron = "0 9 31 4,6,9,11 *"\n', 11, "source.cron", "never due"),
        (HEAD + ROW + 'every = "1h1h"\n', 11, "source.every", "a unit twice"),
        (HEAD.replace('name = "', 'name = "\\u0000'), 2, "site.name", "control character"),
        (HEAD + ROW.replace('title = "', 'title = "\\u001b[31m'), 9, "source.title", "control character"),
        (
            HEAD + ROW + 'headers = { Content-Length = "5" }\n',
            11,
            "source.headers.Content-Length",
            "frames the request",
        ),
        ('[site]\nname = "N"\n[fetch]\nca_bundle = "none.pem"\n', 4, "fetch.ca_bundle", "no certificate"),
        ('[site]\nname = "N"\n[fetch]\ncontact = "a\\r\\nX: 1"\n', 4, "fetch.contact", "control characters"),
        (f'[site]\nname = "N"\n[fetch]\nmax_bytes = "{"9" * 400}B"\n', 4, "fetch.max_bytes", "not a size"),
        (HEAD + ROW + '[[source.quote]]\nexact = "q"\ncarries = ["c"]\n', 13, "source.quote.carries", "not a claim"),
        (HEAD + ROW + '[[source.quote]]\nexact = "q"\n' * 2, 14, "source.quote.exact", "same quote twice"),
        (
            HEAD + '[[claim]]\nid = "c"\ntier = "A"\ntext = "t"\ncarriers = ["x"]\n',
            10,
            "claim.carriers",
            "not a source",
        ),
        ('[site]\nname = "N"\ntimezone = "Mars/Base"\n', 3, "site.timezone", "not a time zone"),
        ('[site]\nname = "N"\ntimezone = "/etc/passwd"\n', 3, "site.timezone", "not a time zone"),
        ('[site]\nname = "N"\n[fetch]\nmax_bytes = "big"\n', 4, "fetch.max_bytes", "not a size"),
        ('[site]\nname = "N"\n[fetch]\nallow_networks = ["lan"]\n', 4, "fetch.allow_networks", "not a network"),
        (HEAD + ROW + 'pause = { until = "soon", reason = "r" }\n', 11, "source.pause.until", "not a day"),
        (HEAD + ROW + 'pause = { until = "9999-12-31", reason = "r" }\n', 11, "source.pause.until", "not a day"),
        (HEAD + ROW + 'mute = { until = "2026-12-24" }\n', 11, "source.mute.reason", "is missing"),
        (HEAD + ROW + 'every = "6h"\nslowest = "1h"\n', 12, "source.slowest", "longest interval"),
        (HEAD + ROW + 'slowest = "7d"\n', 11, "source.slowest", "longest interval"),
        ('[site]\nname = "N"\n[retain.Z]\nversions = "1d"\n', 3, "retain.Z", "no [tiers.Z]"),
        ('[site]\nname = "N"\n[retain.default]\nchecks = "long"\n', 4, "retain.default.checks", "not a duration"),
        ('[site]\nname = "N"\n[proof]\ntsa_ca = "none.pem"\n', 4, "proof.tsa_ca", "no certificate"),
        ('[site]\nname = "N"\n[[editor]]\nname = "L"\nto = ["tgram://1:secret/2"]\n', 5, "editor.to", "environment"),
        ('[site]\nname = "N"\n[[editor]]\nname = "L"\nto = []\n', 5, "editor.to", "at least 1"),
        ('[site]\nname = "N"\n' + '[[editor]]\nname = "L"\nto = ["${L}"]\n' * 2, 7, "editor.name", "used twice"),
        ('[site]\nname = "N"\n[[editor]]\nname = "L"\nto = ["${L}"]\ntiers = ["Z"]\n', 6, "editor.tiers", "[tiers.Z]"),
        (
            '[site]\nname = "N"\n[[editor]]\nname = "L"\nto = ["${L}"]\ndigest_at = "8:30"\n',
            6,
            "editor.digest_at",
            "time of day",
        ),
        ('[tiers.A]\ntitle = "t"\n', 1, "site", "is missing"),
        ("", 1, "site", "is missing"),
    ],
)
def test_a_fault_names_line_and_key(tmp_path: Path, text: str, line: int, key: str, words: str) -> None:
    found = faults(tmp_path, text)
    assert len(found) == 1, found
    where, said, sentence = found[0].split(": ", 2)
    assert (int(where), said) == (line, key) and words in sentence


def test_all_faults_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = HEAD + ROW.replace('"T"', '""') + 'every = "x"\ncolour = 1\n'
    assert [f.split(":")[0] for f in faults(tmp_path, text)] == ["9", "11", "12"]


def test_names_that_lead_nowhere_are_told_beside_bad_values(tmp_path: Path) -> None:
    text = HEAD + ROW.replace('tier = "A"', 'tier = "Z"') + 'every = "soon"\n' + ROW + "colour = 1\n"
    assert [f.split(": ")[1] for f in faults(tmp_path, text)] == [
        "source.tier",
        "source.every",
        "source.id",
        "source.colour",
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[site\n", "not valid TOML"),
        (b"\xff\xfe[site]", "not UTF-8"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    ],
)
def test_a_file_that_is_none_is_told_in_a_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=words):
        config.load(path, {})


def test_a_missing_a_huge_and_a_folder_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not found"):
        config.load(tmp_path / "none.toml", {})
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(tmp_path, {})
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(config.MOST_BYTES + 1)
    with pytest.raises(ConfigError, match="larger than"):
        config.load(huge, {})


def test_a_secret_comes_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(HEAD + ROW + 'headers = { Authorization = "Bearer ${TOKEN}" }\n')
    header = config.load(path, {"TOKEN": "s3cret"}).sources[0].headers[0]
    assert header.value == "Bearer s3cret" and header.secret
    assert "s3cret" not in repr(header)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90), ("6h", 21_600), ("1h 30m", 5_400), ("7d", 604_800), ("1.5h", 5_400), ("200ms", 0.2)],
)
def test_durations(text: str, expected: float) -> None:
    assert config_values.seconds(text) == expected


@given(st.text(max_size=300))
def test_no_text_makes_the_reader_fall_over(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "sources.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError):  # no such text has a [site] with a name
        config.load(path, {})


def test_lines_of_keys_in_tables_arrays_and_long_values() -> None:
    text = (
        'a = """\n[not.a.table]\n"""\n[[s]]\nx = [\n  1,\n]\ny = 2\n[[s.q]]\nz = 3\n'
        '[[s]]\n[[s.q]]\nz = 4\n"odd key" = 5\n'
    )
    known = toml_lines.lines(text)
    assert known["a",] == 1
    assert known["s", 0, "x"] == 5 and known["s", 0, "y"] == 8
    assert known["s", 0, "q", 0, "z"] == 10 and known["s", 1, "q", 0, "z"] == 13
    assert known["s", 1, "q", 0, "odd key"] == 14
    assert ("not", "a", "table") not in known
    assert toml_lines.line_of(("s", 1, "q", 0, "none"), known) == 12


def test_the_projects_own_sources_hold_every_row_of_the_site() -> None:
    settings = config.load(ROOT / "sources.toml", {})
    assert len(settings.sources) + len(settings.claims) == 58
    assert {t for s in settings.sources for t in [s.tier]} == {"A", "C", "D", "comparison", "naming", "unread", "self"}
    panel = next(s for s in settings.sources if s.id == "zhihu-live-stats-image")
    assert panel.parent == "deepseek-zhihu-v4-1-flash-deployment" and panel.url is None
    assert [q.exact for q in panel.quotes] == ["96%", "400 ms", "230 tok/s"]
    assert all(s.read is None for s in settings.sources if s.url is None)


def test_the_shipped_schema_is_the_models_own() -> None:
    assert (ROOT / "sources.schema.json").read_text(encoding="utf-8") == config.schema()
    assert json.loads(config.schema())["properties"].keys() == {
        "storage", "site", "fetch", "hosts", "tiers", "serve", "proof", "retain", "editor", "source", "claim",
        "render", "archive", "save",
    }  # fmt: skip


def test_a_pause_ends_with_its_day_in_the_sites_zone(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    head = HEAD.replace('name = "N"', 'name = "N"\ntimezone = "Asia/Shanghai"')
    path.write_text(head + ROW + 'pause = { until = "2026-12-24", reason = "being moved" }\n', encoding="utf-8")
    pause = config.load(path, {}).sources[0].pause
    assert pause is not None
    assert (pause.until_at.isoformat(), pause.reason) == ("2026-12-24T16:00:00+00:00", "being moved")


def test_where_an_editor_is_told_stays_in_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(HEAD + '[[editor]]\nname = "Li"\nto = ["${LI_TELEGRAM}"]\n', encoding="utf-8")
    [editor] = config.load(path, {"LI_TELEGRAM": "tgram://1:s3cret/2"}).editors
    assert editor.variables == ("LI_TELEGRAM",) and "s3cret" not in repr(editor)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('token = "key:secret"', "is a secret"),
        ('token = "${T}"\ntiers = ["Z"]', "no [tiers.Z] in this file"),
        ('token = "${T}"\nleave_out = ["nobody"]', "'nobody' is not a source of this file"),
        ('token = "${T}"\nper_minute = 60', "less than or equal to 12"),
        ("per_day = 10", "is missing"),
    ],
)
def test_what_would_be_sent_to_an_archive_is_read_strictly(tmp_path: Path, lines: str, words: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(f"{HEAD}{ROW}[save]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config.load(path, {})
    assert words in str(caught.value)


def test_the_token_of_an_archive_stays_in_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(f'{HEAD}{ROW}[save]\ntoken = "${{T}}"\naddress = "https://a.example/"\n', encoding="utf-8")
    save = config.load(path, {"T": "key:secret"}).save
    assert save is not None and (save.variable, save.address, save.tiers) == ("T", "https://a.example", ("A",))
    assert config.load(path, {}).look_for_moved
