"""Commands about messages: does an address work, what is on its way, send what is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, given, opened, told

if TYPE_CHECKING:
    from ..domain.message import Delivery
    from ..services.messages import Delivered

notify_app = typer.Typer(no_args_is_help=True, help="What editors are told, and whether it gets there.")
app.add_typer(notify_app, name="notify")

MOST_SHOWN = 200


@notify_app.command("test")
def notify_test(
    editor: Annotated[str, typer.Option(help="Only this editor; all of them by default.")] = "",
) -> int:
    """Send a test message to each address, and say which of them work."""
    from . import wiring

    settings = wiring.read_settings(given.config)
    wanted = [e for e in settings.editors if not editor or e.name == editor]
    if not wanted:
        known = ", ".join(e.name for e in settings.editors) or "none"
        raise typer.BadParameter(f"no [[editor]] {editor!r}; there are: {known}" if editor else "no [[editor]] is set")
    failed = 0
    for one in wanted:
        for variable in one.variables:
            reason = wiring.send_trial(settings, one, variable)
            typer.echo(f"{'FAIL' if reason else 'ok  '}  {one.name} ({variable}){f': {reason}' if reason else ''}")
            failed += bool(reason)
    return 1 if failed else 0


@notify_app.command("send")
def notify_send() -> int:
    """Send what is due now; `run` and `serve` do so by themselves."""
    from . import wiring

    with opened() as house:
        done = wiring.deliver_due(house)
        typer.echo(f"messages sent: {done.sent} (letters: {done.letters}), failed: {done.failed}")
        say_unsent(done)
    return 1 if done.errors else 0


def say_unsent(done: Delivered) -> None:
    """What could not be sent, on stderr; it is tried again by itself."""
    for error in done.errors:
        told(Exception(f"a message could not be sent: {error}"), 0)


@notify_app.command("list")
def notify_list() -> int:
    """Who is told what: what waits, what failed and why, and what went out in the last seven days."""
    from ..analysis.excerpt import plain
    from ..analysis.telling import headline
    from ..analysis.voice import Voice
    from . import shown, wiring

    with opened() as house:
        queue = house.outbox.queue(wiring.now())
        voice = Voice("en", house.settings.site.timezone)
        rows = [(d.editor, d.variable, _state(d), plain(headline(n, voice))) for d, n in queue[:MOST_SHOWN]]
        if not rows:
            typer.echo("nothing waits, and nothing went out in the last seven days")
            return 0
        typer.echo(shown.columns(("editor", "address in", "state", "message"), rows))
        if len(queue) > MOST_SHOWN:
            typer.echo(f"… and {len(queue) - MOST_SHOWN} more")
    return 0


def _state(d: Delivery) -> str:
    from .shown import counted

    if d.sent_at is not None:
        return f"sent {d.sent_at:%Y-%m-%d %H:%M}Z"
    if d.given_up:
        tried = "1 try" if d.attempts == 1 else f"{d.attempts} tries"
        return f"given up after {tried}: {d.why_not}" if d.attempts else f"not sent: {d.why_not}"
    if d.why_not:
        return f"failed {counted(d.attempts, 'time')}, again {d.next_try_at:%Y-%m-%d %H:%M}Z: {d.why_not}"
    return f"{'digest' if d.digest else 'due'} {d.next_try_at:%Y-%m-%d %H:%M}Z"
