"""A small web on loopback that rots while one watches: every page of it is written here, every server is real."""

from __future__ import annotations

import json
import ssl
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# host: the loopback address that stands for it
HOSTS = {
    "zhuanlan.demo": "127.0.0.2",
    "pic.demo": "127.0.0.3",
    "raw.demo": "127.0.0.4",
    "news.demo": "127.0.0.5",
    "old.demo": "127.0.0.6",
    "thread.demo": "127.0.0.7",
}
UNTRUSTED = ("pic.demo",)

_ARTICLE = """<p>DeepSeek 称，V4.1-Flash 的线上推理集群单集群每天处理 155 万亿 token，
低谷电价下每 GPU 小时收入约 38 美元。</p>
<p>KV cache 放在 3FS 上：agent 流量保留三天，chatbot 流量保留七天。负载均衡达到理想均衡离线基准的约 80%。</p>
<p>下图为线上系统的实际统计，包括缓存命中率、首 token 延迟与解码速度。</p>
<figure><img src="https://pic.demo:{port}/panel.png" alt="线上系统实际统计" width="1200">
<figcaption>线上系统实际统计</figcaption></figure>
<p>EPLB 与 DSpark 的调度在夜间由离线任务重新计算，白天只做小幅调整。部署方式与公开仓库一致，参数见附录。</p>"""

_README = """# DeepServe

[![CI](https://raw.demo:{port}/badge.svg)](https://raw.demo:{port}/ci)

DeepServe serves large language models on commodity clusters.

## Features

- Continuous batching and prefix caching.
- Variable-length verification gains {gain} at the production operating point.
- Up to 11% more at 96 concurrent sequences per rank.
{extra}
## Licence

{licence}
"""

_CAPTCHA = """<!doctype html><html lang="zh"><head><title>安全验证</title></head><body><div id="captcha">
<h1>安全验证</h1><p>您当前请求存在异常，请完成验证后继续访问。</p><p>拖动滑块完成拼图</p>
<script src="/static/captcha/slider.js"></script></div></body></html>"""

_SOFT_404 = """<!doctype html><html lang="en"><head><title>Page not found</title></head><body><h1>Page not found</h1>
<p>Sorry, the page you are looking for does not exist or has been removed.</p>
<p><a href="/">Back to the front page</a></p>
</body></html>"""


def _page(title: str, body: str, language: str = "en") -> str:
    head = f'<!doctype html><html lang="{language}"><head><title>{title}</title></head>'
    return f"{head}<body><article><h1>{title}</h1>{body}</article></body></html>"


def _news(body: str) -> str:
    filler = "".join(
        f"<p>{sentence}</p>"
        for sentence in (
            "The release was announced on a Tuesday morning and drew comments from several operators of clusters.",
            "People who run inference at scale said that the numbers depend on traffic and on the price of power.",
            "None of the figures was measured by this newsroom; they are the company's own and are given as such.",
        )
    )
    return _page("DeepServe opens its engine", body + filler)


def _png(width: int, height: int, shade: int) -> bytes:
    """A real picture of one colour with a few stripes."""
    rows = b"".join(
        b"\0" + bytes((shade if (x // 40 + y // 40) % 2 else 235) for x in range(width)) for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@dataclass(slots=True)
class DemoWeb:
    """The running web. Set *day* (1, 2, 3) to let time pass; *ports* are those of the hosts."""

    day: int = 1
    ports: dict[str, int] = field(default_factory=dict)

    def url(self, host: str, path: str) -> str:
        return f"https://{host}:{self.ports[host]}{path}"

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The name service of this web; it knows no other names."""
        import socket

        if host not in HOSTS:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [HOSTS[host]]

    def answer(self, host: str, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one page on the current day."""
        found = getattr(self, f"_{host.partition('.')[0]}")(path)
        if found is None:
            return 404, {"Content-Type": "text/html"}, b"<h1>404 Not Found</h1><p>No such file on this server.</p>"
        status, kind, body = found
        if 300 <= status < 400:
            return status, {"Location": body}, b""
        data = body if isinstance(body, bytes) else body.encode()
        return status, {"Content-Type": kind}, data

    def _zhuanlan(self, path: str) -> Any:
        if path == "/p/1":
            body = _ARTICLE.replace("{port}", str(self.ports["pic.demo"]))
            return 200, "text/html; charset=utf-8", _page("V4.1 Flash 大规模推理部署", body, "zh")
        if path == "/p/2":
            text = "<p>这篇文章解释调度器怎样在夜间重新计算专家的放置，并给出一周的命中率曲线。</p>" * 3
            return 200, "text/html; charset=utf-8", _CAPTCHA if self.day > 1 else _page("调度器笔记", text, "zh")
        return None

    def _pic(self, path: str) -> Any:
        return (200, "image/png", _png(600, 320, 90)) if path == "/panel.png" else None

    def _raw(self, path: str) -> Any:
        if path == "/README.md":
            licence = "MIT" if self.day < 3 else "Apache-2.0"
            gain, extra = ("4–7%", "") if self.day == 1 else ("3–5%", "- Ascend support is an open proposal.\n")
            text = _README.replace("{port}", str(self.ports["raw.demo"])).format(
                gain=gain, extra=extra, licence=licence
            )
            return 200, "text/plain; charset=utf-8", text
        return (200, "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>") if path == "/badge.svg" else None

    def _news(self, path: str) -> Any:
        if path == "/2026/launch":
            quote = "<p>Operators report 230 tokens per second in ordinary traffic and 300 when writing code.</p>"
            return 200, "text/html", _news("<p>DeepServe published its engine.</p>" + (quote if self.day < 3 else ""))
        if path == "/2026/chart":
            figure = '<figure><img src="/img/chart.png" alt="Throughput by week"></figure>'
            return 200, "text/html", _news(f"<p>The chart below shows eight weeks of production.</p>{figure}")
        if path == "/img/chart.png":
            return (200, "image/png", _png(480, 240, 60)) if self.day == 1 else None
        if path == "/2026/brief":
            if self.day == 2:
                return 503, "text/html", "<h1>Service unavailable</h1>"
            return 200, "text/html", _news("<p>A brief.</p>")
        return None

    def _old(self, path: str) -> Any:
        if path == "/guide":
            return (
                (301, "", self.url("old.demo", "/docs/guide"))
                if self.day > 1
                else (200, "text/html", _news("<p>A guide.</p>"))
            )
        if path == "/docs/guide":
            return 200, "text/html", _news("<p>A guide.</p>")
        if path == "/notes/42":
            return 200, "text/html", _SOFT_404 if self.day == 3 else _news("<p>Note forty-two.</p>")
        if path.startswith("/notes/"):
            return 200, "text/html", _SOFT_404
        return None

    def _thread(self, path: str) -> Any:
        if path != "/item/7.json":
            return None
        kids = [{"by": "ann", "id": 8, "text": "The missing part is the KV cache.", "type": "comment"}]
        item = {
            "id": 7,
            "type": "story",
            "title": "DeepServe is open",
            "score": 100 + 31 * self.day,
            "descendants": 1,
            "children": kids,
        }
        return 200, "application/json", json.dumps(item)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    web: DemoWeb
    host: str

    def do_GET(self) -> None:
        status, headers, body = self.web.answer(self.host, self.path)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Quiet: what was asked is in the snapshots."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that refuses the certificate hangs up: that is the demonstration, not a fault."""


@contextmanager
def rotting_web(contexts: dict[str, ssl.SSLContext]) -> Iterator[DemoWeb]:
    """Serve every host on its loopback address with its own TLS context."""
    web = DemoWeb()
    with ExitStack() as stack:
        for host, address in HOSTS.items():
            handler = type(f"Handler_{host.partition('.')[0]}", (_Handler,), {"web": web, "host": host})
            server = stack.enter_context(_Server((address, 0), handler))
            server.socket = contexts[host].wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            web.ports[host] = server.server_address[1]
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield web
