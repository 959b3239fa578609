"""Whoever calls a command from cron tells findings, faults and defects apart by its exit code."""

from __future__ import annotations

import asyncio

import pytest

from sourcewatch.faces import cli


@pytest.mark.parametrize("defect", [KeyError("gone"), asyncio.CancelledError("a task")])
def test_a_defect_that_ends_a_command_is_no_finding(
    defect: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def app(*, standalone_mode: bool) -> None:
        raise defect

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 5
    told = capsys.readouterr().err
    assert told.startswith("Traceback") and type(defect).__name__ in told
