"""The house stands: imports go down the floors, and a foreign package lives in one room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "sourcewatch"

MAY_IMPORT = {
    "domain": {"domain"},
    "analysis": {"domain", "analysis"},
    "adapters": {"domain", "adapters"},
    "services": {"domain", "analysis", "services"},
    "faces": {"domain", "analysis", "services", "faces"},
}
# the only modules that know adapters and services
WIRING = {f"faces/{name}.py" for name in ("wiring", "crew", "lookback", "citing", "reading", "fleet", "moving")}
ONE_ROOM = {
    "rfc3161_client": {"adapters/timestamps.py"},
    "httpx": {
        "adapters/timestamps.py",
        "adapters/http.py",
        "adapters/answer.py",
        "adapters/lines.py",
        "adapters/causes.py",
    },
    "httpcore": {f"adapters/{name}.py" for name in ("guard", "guard_proxy", "stream", "lines", "causes")},
    "sqlalchemy": {
        "adapters/tables.py",
        "adapters/ledger.py",
        "adapters/database.py",
        "adapters/audits.py",
        "adapters/archive_rows.py",
        "adapters/versions.py",
        "adapters/queue_rows.py",
        "adapters/exclusive.py",
        "adapters/retention.py",
        "adapters/spans.py",
        "adapters/stood.py",
        "adapters/incident_rows.py",
        "adapters/outbox.py",
        "adapters/change_rows.py",
        "adapters/site_rows.py",
        "adapters/trend_rows.py",
        "adapters/reviews.py",
        "adapters/desk_rows.py",
        "adapters/search.py",
        "adapters/copy_rows.py",
        "adapters/fence.py",
        "adapters/months.py",
        "adapters/move_rows.py",
        "adapters/outside_rows.py",
        "adapters/save_rows.py",
        "adapters/strays.py",
        "adapters/turn_rows.py",
        "faces/fleet.py",
    },
    "procrastinate": {"adapters/queue.py"},
    "psycopg": {"adapters/queue.py"},
    "psycopg_pool": {"adapters/queue.py"},
    "alembic": {"adapters/database.py"},
    "warcio": {"adapters/warc.py", "adapters/brought_warc.py"},
    "selectolax": {"analysis/html.py"},
    "pypdfium2": {"analysis/pdf.py"},
    "markdown_it": {"analysis/markdown.py", "analysis/citing_markdown.py"},
    "docutils": {"analysis/citing_rst.py"},
    "yaml": {"analysis/imports_yaml.py"},
    "tomlkit": {"adapters/sources_file.py"},
    "PIL": {"analysis/images.py", "analysis/picture_diff.py", "analysis/boxes.py"},
    "apscheduler": {"faces/daemon.py", "faces/lead.py", "adapters/cron.py"},
    "typer": {"faces/base.py", "faces/cli.py", "faces/demo.py", "faces/times.py"}
    | {p.relative_to(PACKAGE).as_posix() for p in (PACKAGE / "faces").glob("*_commands.py")},
    "apprise": {"adapters/notify.py"},
    "starlette": {"faces/serve.py"}
    | {p.relative_to(PACKAGE).as_posix() for p in (PACKAGE / "faces" / "web").glob("*.py")},
    "uvicorn": {"faces/serve.py"},
    "prometheus_client": {"faces/web/ops.py"},
    "playwright": {f"adapters/{name}.py" for name in ("browser", "browser_page", "browser_parts", "chromium")},
    "protego": {"adapters/robots.py"},
    "obstore": {"adapters/bucket.py"},
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imported(module: str, tree: ast.Module) -> Iterator[str]:
    """Absolute dotted names of all that a module imports, inside functions too."""
    parts = ["sourcewatch", *module.removesuffix(".py").split("/")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            whole = ".".join(filter(None, (base, node.module)))
            yield whole
            yield from (f"{whole}.{alias.name}" for alias in node.names)


def floor_of(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "sourcewatch" and len(parts) > 1 and parts[1] in MAY_IMPORT else None


@pytest.mark.parametrize(("module", "tree"), list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_only_go_down(module: str, tree: ast.Module) -> None:
    floor = module.split("/")[0]
    if floor not in MAY_IMPORT:
        return
    allowed = MAY_IMPORT[floor] | ({"adapters"} if module in WIRING else set())
    upward = {name for name in imported(module, tree) if (f := floor_of(name)) and f not in allowed}
    assert not upward, f"{module} imports upwards: {sorted(upward)}"


def test_the_domain_uses_the_standard_library_only() -> None:
    import sys

    for module, tree in modules():
        if module.startswith("domain/"):
            foreign = {
                name.split(".")[0]
                for name in imported(module, tree)
                if name.split(".")[0] not in sys.stdlib_module_names and name.split(".")[0] != "sourcewatch"
            }
            assert not foreign, f"{module} imports {foreign}"


def test_a_foreign_package_lives_in_one_room() -> None:
    for module, tree in modules():
        for name in imported(module, tree):
            rooms = ONE_ROOM.get(name.split(".")[0])
            assert rooms is None or module in rooms, f"{module} imports {name}; only {sorted(rooms or ())} may"
