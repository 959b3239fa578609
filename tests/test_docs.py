"""The documentation says what the program does: commands, keys, verdicts and examples are checked against it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import typer.main
from pydantic import BaseModel

from sourcewatch.adapters import config_models as models
from sourcewatch.adapters.config import load
from sourcewatch.domain.verdict import WORDS
from sourcewatch.faces.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
KEYS = (ROOT / "docs" / "configuration.md").read_text("utf-8")
VERDICTS = (ROOT / "docs" / "verdicts.md").read_text("utf-8")


def commands() -> list[str]:
    group = typer.main.get_command(app)
    names = []
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        names += [f"{name} {sub}" for sub in inner] if inner else [name]
    return names


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_readme(command: str) -> None:
    assert re.search(rf"`(?:sourcewatch )?{re.escape(command)}[` ]", README), command


def test_every_command_that_the_readme_names_exists() -> None:
    named = {m.strip() for m in re.findall(r"^\| `sourcewatch ([a-z-]+(?: [a-z-]+)?)", README, re.M)}
    known = {c for name in commands() for c in (name, name.split()[0])}
    assert named <= known, named - known


def test_the_readmes_example_is_a_sound_configuration(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", README, re.S)
    path = tmp_path / "sources.toml"
    path.write_text(example, encoding="utf-8")
    settings = load(path, {})
    assert [s.id for s in settings.sources] == ["vllm-readme", "panel"]
    assert tomllib.loads(example)["site"]["language"] == "zh-CN"


@pytest.mark.parametrize(
    "model",
    [
        models.SiteModel, models.FetchModel, models.HostModel, models.TierModel, models.SourceModel, models.QuoteModel,
        models.ClaimModel, models.MirrorModel, models.ServeModel, models.ProofModel, models.RetainModel,
        models.EditorModel, models.ArchiveModel, models.SaveModel, models.RestModel,
    ],
)  # fmt: skip
def test_every_key_is_documented(model: type[BaseModel]) -> None:
    missing = [
        key for key in model.model_fields if f"`{key}`" not in KEYS and key not in ("quote",) and f"{key} =" not in KEYS
    ]
    assert not missing


def test_every_verdict_is_documented_with_its_consequences() -> None:
    rows = {m[1]: m[0] for m in re.finditer(r"^\| `([a-z_0-9]+)` \|.*$", VERDICTS, re.M)}
    assert set(rows) == set(WORDS)
    for word in WORDS.values():
        cells = [c.strip() for c in rows[word.name].split("|")]
        assert (cells[2], cells[3] == "yes", cells[4] == "yes", cells[5]) == (
            word.klass,
            word.accessed,
            word.strike,
            word.retry,
        )


def test_links_between_documents_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_no_document_names_a_path_of_some_machine_or_a_registry() -> None:
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), ROOT / "constraints.txt"]:
        text = path.read_text("utf-8")
        assert not re.search(r"/(?:home|root|work)/|pypi\.|files\.pythonhosted", text), path
