"""Every sentence that people read, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

from .phrases_access import ACCESS
from .phrases_desk import DESK
from .phrases_moved import WHITHER
from .phrases_outside import OUTSIDE
from .phrases_report import REPORT

# key: (zh-CN, en)
_SENTENCES: Mapping[str, tuple[str, str]] = {
    "unread_unknown": (
        "本次没有可靠的读取结果，无从断言。",
        "Nothing was read reliably in this pass, so nothing can be said.",
    ),
    "moved_to": ("现在位于 {url}", "now at {url}"),
    "moved_block": ("移动", "moved"),
    "figure_not_asked": (
        "唯一依据是一张图片，所在页面尚未读到，图片从未访问",
        "its only evidence is a figure; its page has not been read, so the figure was never asked for",
    ),
    "report": ("变更报告", "Change report"),
    "generated": ("生成于 {at}", "Generated {at}"),
    "since": ("自 {at} 起", "Since {at}"),
    "last_run": ("最近一次检查：{at}", "Last pass: {at}"),
    "needs": ("需要您处理", "Needs you"),
    "changes": ("改动", "Changes"),
    "unreadable": ("我们读不到的内容", "What we could not read"),
    "recovered": ("已恢复", "Recovered"),
    "quiet": ("没有变化", "Unchanged"),
    "unchecked": ("尚未检查", "Not checked yet"),
    "unlocated": ("地址未知", "Address unknown"),
    "claims": ("无法独立验证的说法及其出处", "Claims and what carries them"),
    "void": (
        "我方网络故障：{of} 个主机中有 {n} 个同样失败（{why}）。本次失败不计入任何来源。",
        "Our own network is at fault: {n} of {of} hosts failed alike ({why}). No source is blamed for this pass.",
    ),
    "nothing_needs": ("没有需要处理的事项。", "Nothing needs you."),
    "nothing_changed": ("没有改动。", "No change."),
    "nothing_unread": ("全部读到。", "Everything was read."),
    "quote": ("引文", "Quote"),
    "cited_on": ("用于", "used on"),
    "last_read": ("最后读到", "last read"),
    "never_read": ("从未读到", "never read"),
    "failing_since": ("自 {at} 起读不到", "failing since {at}"),
    "strikes": ("{n} 次检查未能读到", "{n:check} could not read it"),
    "dead": ("已失效", "dead"),
    "q_not_found": ("在该页上找不到", "not found on the page"),
    "q_never": ("从第一次读取起就不在所引页面上", "not found on the page that you cite, from the first reading on"),
    "q_deleted_here": ("前后文仍在，此句已不在其间", "its neighbours still stand, the sentence between them does not"),
    "q_reworded": ("已改写（相似度 {score}）", "reworded (likeness {score})"),
    "q_numbers_changed": ("数字已变：{old} → {new}", "numbers changed: {old} → {new}"),
    "q_negation": ("否定词有增减", "a negation came or went"),
    "q_unverified": ("未核实", "unverified"),
    "q_stood": ("最后一次原样见于 {at}", "last seen unchanged {at}"),
    "figure_unread": (
        "唯一依据是一张图片，该图读不到（{why}）",
        "its only evidence is a figure that could not be read ({why})",
    ),
    "page_read": ("所在页面的正文已于 {at} 读到", "the text of its page was read {at}"),
    "figure_read": (
        "图片已读到，图中数字需人工核对",
        "the figure was read; the numbers in it are for a person to check",
    ),
    "figure_not_shown": ("页面已读到，但其中没有这张图", "the page was read, and shows no such figure"),
    "figure_of": ("《{title}》中的图片", "figure on “{title}”"),
    "now": ("现为", "now"),
    "title_changed": ("标题", "title"),
    "s_quote": ("涉及引文", "quote"),
    "s_figures": ("数字或图片", "figures"),
    "s_text": ("正文", "text"),
    "s_links": ("链接", "links"),
    "s_cosmetic": ("版式", "cosmetic"),
    "e_replaced": ("整篇已被替换（旧文仅余 {kept}）", "replaced wholesale ({kept} of the old text is left)"),
    "e_truncated": ("已被截短（旧文仅余 {kept}）", "truncated ({kept} of the old text is left)"),
    "e_grown": ("有增补", "grown"),
    "e_edited": ("有修改", "edited"),
    "e_picture": ("图中 {n} 处不同，共占 {share}", "{n:place} in the picture, {share} of it"),
    "e_box": (
        "左 {x}、上 {y} 起 {width} × {height} 像素，其中 {share} 不同",
        "{width} × {height} px at {x}, {y}: {share} of it differs",
    ),
    "e_same": ("微小改动", "small edit"),
    "moved": ("地址已变", "Moved"),
    "more": ("另有 {n} 处", "{n} more"),
    "suppressed": ("另有 {n} 处噪声未列", "{n:edit} of noise not shown"),
    "by_hand": ("人工读取：{by}，{at}", "read by hand by {by}, {at}"),
    "unconfirmed": ("待下次读取确认", "waits for the next reading to confirm it"),
    "was_failing": ("此前：{why}", "before: {why}"),
    "carrier": ("出处", "carrier"),
    "no_carrier": ("未写明出处", "no carrier named"),
    "quotes_stand": ("{n}/{of} 条引文仍在", "{n} of {of:quote} stand"),
    "carrier_unlocated": ("出处地址未知", "the carrier is unlocated"),
    "tier": ("层级", "tier"),
    "source": ("来源", "source"),
    "state": ("状态", "state"),
    "unlocated_note": (
        "没有地址的来源：列出，不抓取，不标日期。",
        "Sources without an address: listed, never fetched, never dated.",
    ),
    "counts": (
        "待处理 {needs} 项 · 改动 {changes} 处 · 读不到 {unread} 个 · 无变化 {quiet} 个 · "
        "尚未检查 {unchecked} 个 · 地址未知 {unlocated} 个",
        "{needs} need you · {changes} changed · {unread} unreadable · {quiet} unchanged · "
        "{unchecked} not checked yet · {unlocated} without an address",
    ),
    "before": ("之前", "before"),
    "after": ("之后", "after"),
    "sum_checked": (
        "检查 {n} 个：读到 {read}，未读到 {unread}；新版本 {new}，改动 {changed}",
        "{n} checked: {read} read, {unread} not; {new:new version}, {changed:change}",
    ),
    "sum_put_off": ("推迟 {n} 个：对方要求稍后再来", "{n} put off: their hosts asked us to wait"),
    "sum_changed": ("有改动", "changed"),
    "sum_edits": ("{n} 处（{kind}，{extent}）", "{n:edit} ({kind}, {extent})"),
    "sum_quotes": ("引文不再成立", "quotes that do not stand"),
    "sum_figures": ("未读到的图片", "figures not read"),
    "sum_unread": ("未读到", "not read"),
    "sum_more": ("……另有 {n} 个", "… and {n} more"),
    "sum_since": ("自 {at} 起", "since {at}"),
    "m_broken": ("引文不再成立：{name}", "A quote no longer stands: {name}"),
    "m_numbers": ("引文中的数字已变：{name}", "Figures in a quote changed: {name}"),
    "m_never": ("引文从未在所引页面上找到：{name}", "A quote was never found on the page: {name}"),
    "m_still": ("引文又有变化，仍不成立：{name}", "A quote changed again and does not stand: {name}"),
    "m_stands": ("引文恢复原样：{name}", "A quote stands again: {name}"),
    "m_dead": ("来源已失效：{name}", "Dead: {name}"),
    "m_figure": ("图片读不到：{name}", "A figure cannot be read: {name}"),
    "m_failing": ("来源读不到：{name}", "Cannot be read: {name}"),
    "m_changed_kind": ("读不到的原因变了：{name}", "Fails in another way: {name}"),
    "m_change": ("有改动（{kind}）：{name}", "Changed ({kind}): {name}"),
    "m_moved": ("地址永久变更：{name}", "Moved for good: {name}"),
    "m_recovered": ("已恢复可读：{name}", "Can be read again: {name}"),
    "m_lasted": ("读不到持续了 {lasted}", "it could not be read for {lasted}"),
    "m_relies": ("依据此图的引文", "quotes that rely on it"),
    "m_ours": ("我们存下的版本", "our copy"),
    "m_instead": ("请改引", "cite instead"),
    "m_many": ("{n} 件事", "{n:thing} to know"),
    "m_more": ("……另有 {n} 件，见变更报告", "… and {n} more: see the change report"),
    "m_daily": ("每日摘要", "daily digest"),
    "m_weekly": ("每周摘要", "weekly digest"),
    "m_quiet": (
        "本周一切如常：没有其他需要告知的事项（已即时告知 {n} 件）。",
        "All quiet this week: nothing waited for this digest ({n:message} went out at once).",
    ),
    "m_test": ("测试消息", "test message"),
    "m_test_body": (
        "这是 sourcewatch 的测试消息。收到它，说明 {name} 的这个地址可用。",
        "A test message of sourcewatch. That you read it means that this address of {name} works.",
    ),
    "for_long": ("{since}（已 {lasted}）", "{since} (for {lasted})"),
    "days": ("{n} 天", "{n:day}"),
    "hours": ("{n} 小时", "{n:hour}"),
    "minutes": ("{n} 分钟", "{n:minute}"),
    "undelivered": (
        "有 {n} 条消息未能送达，已放弃。`sourcewatch notify list` 说明原因。",
        "{n:message} could not be delivered and were given up. `sourcewatch notify list` says why.",
    ),
}

# verdict: (zh-CN, en)
_WORDS: Mapping[str, tuple[str, str]] = {
    "ok": ("已读到原文", "read"),
    "ok_partial": ("正文已读到，但至少一张图未读到", "text read, but at least one figure was not"),
    "ok_fragment_missing": ("页面已读到，但引用的锚点不在其中", "page read, but the cited anchor is not in it"),
    "redirected_permanent": ("已在永久转向后的地址读到", "read at the address it moved to for good"),
    "redirected_temporary": ("已在临时转向后的地址读到", "read at the address it is redirected to for now"),
    "redirected_meta": ("经页面刷新跳转后读到", "read where the page refers on to"),
    "redirected_js": ("只有脚本跳转，目标未读", "a script-only redirect; the target was not read"),
    "not_found": ("404，不存在", "404, not found"),
    "gone": ("410，已移除", "410, gone"),
    "unavailable_for_legal": ("451，因法律原因不可用", "451, unavailable for legal reasons"),
    "removed_notice": ("状态 200，但写明已被作者或平台删除", "status 200, but a notice that it was taken down"),
    "soft_404": ("状态 200，但网站说该页不存在", "status 200, but the site says that the page does not exist"),
    "redirected_to_home": ("深层地址被转到首页或栏目页", "a deep address that ends on a front page"),
    "parked_domain": ("域名停放或出售页", "a parking or domain-sale page"),
    "site_suspended": ("站点被停用，或因未备案被阻断", "the site is suspended, or blocked for want of a filing"),
    "default_page": ("服务器默认页", "a web server's default page"),
    "content_replaced": ("可读，但已是另一份文件", "readable, but wholly another document"),
    "auth_required": ("401/407，需要认证", "401/407, asks for credentials"),
    "login_wall": ("原文位置是登录表单", "a login form where the document was"),
    "payment_required": ("402 或付费墙", "402 or a paywall"),
    "forbidden": ("403 一类，拒绝访问", "403 or kin, refused"),
    "challenge": ("验证码或反爬验证", "a captcha or another challenge"),
    "rate_limited": ("429，请求过频", "429, too many requests"),
    "needs_js": ("空壳页，只有脚本才能填充", "an empty shell that only scripts fill"),
    "interstitial": ("中间页（离站提示、同意墙）", "a page in between (leaving, consent)"),
    "network_auth": ("511、认证门户或我方网络过滤", "511, a captive portal, or our own network's filter"),
    "client_error": ("其他 4xx", "another 4xx"),
    "server_error": ("5xx，服务器错误", "5xx, server error"),
    "soft_500": ("状态 200，但内容是报错", "status 200, but an error dump"),
    "empty_body": ("空白，没有一个字", "not a word in it"),
    "partial_content": ("未请求却返回 206 片段", "206, a part that nobody asked for"),
    "body_truncated": ("字节数少于声明，或在文中断开", "fewer bytes than announced, or cut off in mid-document"),
    "body_reset": ("传输正文时连接被重置", "connection reset in the body"),
    "bad_encoding": ("内容编码无法解开", "the content encoding does not decode"),
    "bad_chunking": ("分块传输损坏", "chunked framing broken"),
    "bad_header": ("响应头畸形或过大", "malformed or oversized header"),
    "bad_status_line": ("状态行无法解析", "no parsable status line"),
    "not_http": ("不是 HTTP", "not HTTP"),
    "wrong_type": ("类型不符（应为 PDF 或图片却是网页，或相反）", "another type than was cited"),
    "document_broken": ("PDF 或图片打不开", "a PDF or image that does not open"),
    "redirect_loop": ("转向成环", "redirect loop"),
    "too_many_redirects": ("转向过多", "too many redirects"),
    "redirect_bad_location": ("3xx 却没有可用的 Location", "3xx without a usable Location"),
    "tls_expired": ("SSL 证书已过期", "SSL error: the certificate has expired"),
    "tls_not_yet_valid": ("SSL 证书尚未生效", "SSL error: the certificate is not valid yet"),
    "tls_self_signed": ("SSL 证书为自签名", "SSL error: self-signed certificate"),
    "tls_unknown_ca": ("SSL 证书签发者不受信任", "SSL error: certificate from an untrusted issuer"),
    "tls_incomplete_chain": ("SSL 证书链缺少中间证书", "SSL error: the server forgets its intermediate certificate"),
    "tls_hostname_mismatch": ("SSL 证书与域名不符", "SSL error: the certificate names another host"),
    "tls_weak_key": ("SSL 证书密钥过弱", "SSL error: the certificate's key is too weak"),
    "tls_protocol_version": ("SSL/TLS 版本不被支持", "SSL error: no common TLS version"),
    "tls_handshake_failed": ("SSL 握手失败", "SSL error: the handshake failed"),
    "tls_client_cert": ("要求客户端证书", "asks for a client certificate"),
    "tls_not_tls": ("SSL 端口上是明文", "SSL error: plain text on a TLS port"),
    "dns_not_found": ("域名无法解析", "the name does not resolve"),
    "connect_refused": ("连接被拒绝", "connection refused"),
    "connect_timeout": ("连接超时", "connection timed out"),
    "connection_reset": ("连接被重置", "connection reset"),
    "empty_reply": ("未发一字节即关闭", "closed without a byte"),
    "read_timeout": ("读取超时", "timed out while reading"),
    "too_slow": ("超过总时限", "over the deadline"),
    "redirect_unsupported_scheme": ("转向到非 http 地址", "redirects to something that is not http"),
    "redirect_to_private": ("指向内网地址，未访问", "leads to a private address; not asked"),
    "too_large": ("超过大小上限", "over the size limit"),
    "decompression_bomb": ("解压炸弹", "a decompression bomb"),
    "invalid_url": ("地址无效", "not a valid address"),
    "robots_disallowed": ("robots.txt 不允许", "robots.txt forbids it"),
}


class _Count(int):
    """A number that brings its noun: `{n:edit}` is "1 edit" or "2 edits"."""

    def __format__(self, noun: str) -> str:
        return f"{int(self)} {noun}{'' if self == 1 else 's'}" if noun else str(int(self))


_ALL = {**_SENTENCES, **DESK, **ACCESS, **REPORT, **OUTSIDE, **WHITHER}


def say(key: str, language: str, **values: object) -> str:
    """One sentence. Raises KeyError for a key that nobody wrote: an untranslated string is a defect."""
    counted = {k: _Count(v) if isinstance(v, int) else v for k, v in values.items()}
    return _ALL[key][0 if language == "zh-CN" else 1].format(**counted)


def word(verdict: str, language: str) -> str:
    """A verdict in a few words."""
    return _WORDS[verdict][0 if language == "zh-CN" else 1]
