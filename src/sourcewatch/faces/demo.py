"""`sourcewatch demo`: three dated passes over a small web that rots, and a report to open."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import typer

from ..analysis import render
from ..services import publish
from . import wiring
from .demo_web import HOSTS, UNTRUSTED, DemoWeb, rotting_web
from .files import write_whole

_SOURCES = """\
# Written by `sourcewatch demo`. Its web lives only while the demo runs; what was read stays in this folder.
[site]
name = "Demo Field Notes"
url = "https://notes.demo/"
timezone = "Asia/Shanghai"
language = "zh-CN"
[fetch]
allow_networks = ["127.0.0.0/28"]
ca_bundle = "root.pem"
deadline = "10s"
[hosts.default]
delay = "0s"
[tiers.A]
title = "官方一手来源"
[tiers.B]
title = "无法独立验证的官方说法"
[tiers.C]
title = "具名二手报道"
[tiers.D]
title = "社区观察"
every = "1h"
[[source]]
id = "zhihu-article"
tier = "A"
title = "知乎文章：V4.1 Flash 大规模推理部署"
url = "{zhuanlan.demo}/p/1"
language = "zh"
cited_on = ["/sources/"]
[[source.quote]]
exact = "单集群每天处理 155 万亿 token"
carries = ["daily-tokens"]
[[source]]
id = "zhihu-panel"
tier = "A"
title = "“线上系统实际统计”的图片"
kind = "figure"
parent = "zhihu-article"
alt = "线上系统实际统计"
cited_on = ["/sources/#unread"]
[[source.quote]]
exact = "96% 缓存命中"
[[source.quote]]
exact = "约 400 ms TTFT"
[[source.quote]]
exact = "230 tok/s"
[[source]]
id = "scheduler-notes"
tier = "A"
title = "调度器笔记"
url = "{zhuanlan.demo}/p/2"
[[source]]
id = "deepserve-readme"
tier = "A"
title = "DeepServe README"
url = "{raw.demo}/README.md"
cited_on = ["/compare/"]
[[source.quote]]
exact = "Variable-length verification gains 4–7% at the production operating point"
[[source.quote]]
exact = "Up to 11% more at 96 concurrent sequences per rank"
[[source]]
id = "launch-report"
tier = "C"
title = "Launch report"
url = "{news.demo}/2026/launch"
cited_on = ["/timeline/"]
[[source.quote]]
exact = "230 tokens per second"
prefix = "Operators report "
suffix = " in ordinary traffic"
[[source]]
id = "weekly-chart"
tier = "C"
title = "Throughput by week"
url = "{news.demo}/2026/chart"
[[source]]
id = "brief"
tier = "C"
title = "A brief that was down for a week"
url = "{news.demo}/2026/brief"
[[source]]
id = "guide"
tier = "C"
title = "A guide that moved"
url = "{old.demo}/guide"
[[source]]
id = "note-42"
tier = "C"
title = "A note that became a soft 404"
url = "{old.demo}/notes/42"
[[source]]
id = "gone-page"
tier = "C"
title = "A page that was gone from the start"
url = "{old.demo}/gone"
[[source]]
id = "thread"
tier = "D"
title = "A thread whose score moves"
url = "{thread.demo}/item/7.json"
[[source]]
id = "unlocated-qa"
tier = "A"
title = "部署 Q&A（地址未知）"
[[claim]]
id = "daily-tokens"
tier = "B"
text = "单集群每天 155 万亿 token"
carriers = ["zhihu-article", "unlocated-qa"]
"""


def show(out: Path | None) -> int:
    """Run the demo and say where its report lies."""
    folder = out or Path(tempfile.mkdtemp(prefix="sourcewatch-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "sourcewatch.db").exists():
        raise typer.BadParameter(f"{folder} already holds a sourcewatch; give an empty folder")
    contexts, root = wiring.loopback_tls(list(HOSTS), UNTRUSTED)
    write_whole(folder / "root.pem", root)
    with rotting_web(contexts) as web:
        write_whole(folder / "sources.toml", _located(web))
        with wiring.open_house(folder / "sources.toml", folder, {}) as house:
            present = wiring.now().replace(microsecond=0)
            for day, weeks_ago in ((1, 2), (2, 1), (3, 0)):
                web.day, at = day, present - timedelta(weeks=weeks_ago)
                passed = partial(wiring.run_pass, house, all_of_them=True, trigger="demo", resolve=web.resolve)
                tally = asyncio.run(passed(clock=_standing_still(at)))
                words = ", ".join(f"{n} {word}" for word, n in sorted(tally.words.items()))
                typer.echo(f"{at:%Y-%m-%d}: {tally.checked} checked ({words})")
            report = publish.report(
                house.settings, house.ledger, present, present - timedelta(weeks=3), house.snapshots
            )
    for name, text in (("html", render.html(report)), ("md", render.markdown(report))):
        write_whole(folder / "reports" / f"demo.{name}", text)
    typer.echo(f"\nThe report: {folder / 'reports' / 'demo.html'}")
    typer.echo("Look around, with status, history deepserve-readme or diff deepserve-readme after it:")
    typer.echo(f"  sourcewatch --config {folder / 'sources.toml'}")
    return 0


def _standing_still(at: datetime) -> Callable[[], datetime]:
    return lambda: at


def _located(web: DemoWeb) -> str:
    text = _SOURCES
    for host in HOSTS:
        text = text.replace("{" + host + "}", web.url(host, ""))
    return text
