"""Pages in the place of a source, and the good pages that look like them: named cases with the verdict they deserve.

Written for these tests after the forms that servers, platforms and vendors use; the words around the marks are ours.
"""

# ruff: noqa: E501  (a page is a line)
from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass

from .good_text import ARTICLE, ARTICLE_ZH, OTHER, SCRAMBLED_ZH, SWAPPED_ZH, html


@dataclass(frozen=True)
class StandIn:
    """*page* is the final answer's body. *rule* decided a bad page; a good one *spares* the rule that it resembles.

    *path* is cited; *leads* are hops (status, target path) from it to the page. *before* is the version accepted
    earlier, *unknown* what the host answers for invented addresses, with status 200. *holds* is in the text that was
    read. *fragment* is cited behind the path. What is not *framed* ends where its connection does.
    """

    name: str
    word: str
    rule: str = ""
    page: str | bytes = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    type: str = "text/html; charset=utf-8"
    path: str = ""
    leads: tuple[tuple[int, str], ...] = ()
    before: str | bytes = ""
    unknown: str = ""
    quotes: tuple[str, ...] = ()
    fragment: str = ""
    figure: bool = False
    spares: str = ""
    robots: str = ""
    holds: str = ""
    framed: bool = True

    @property
    def body(self) -> bytes:
        return self.page if isinstance(self.page, bytes) else self.page.encode("utf-8")

    @property
    def cited(self) -> str:
        return self.path or f"/articles/2024/{self.name}-of-the-cache"


def bad(name: str, word: str, rule: str, page: str | bytes, **more: object) -> StandIn:
    return StandIn(name, word, rule, page, **more)  # type: ignore[arg-type]


def good(name: str, spares: str, page: str | bytes, word: str = "ok", **more: object) -> StandIn:
    return StandIn(name, word, page=page, spares=spares, **more)  # type: ignore[arg-type]


CHALLENGES = (
    bad(
        "cloudflare-403",
        "challenge",
        "challenge-header",
        html(
            "Just a moment...", "<script>window._cf_chl_opt={cvId:'3'}</script><noscript>Enable JavaScript</noscript>"
        ),
        status=403,
        headers=(("cf-mitigated", "challenge"), ("Server", "cloudflare")),
    ),
    bad(
        "cloudflare-200",
        "challenge",
        "challenge-vendor",
        html(
            "请稍候…",
            "<h1>a.example</h1><script>window._cf_chl_opt={cvId:'3'};a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'</script>",
        ),
    ),
    bad(
        "cloudflare-blocked-429",
        "challenge",
        "challenge-vendor",
        html(
            "Attention Required! | Cloudflare",
            "<h1>Sorry, you have been blocked</h1><p>You are unable to access a.example. Performance &amp; security by Cloudflare. Ray ID: 7d1</p>",
        ),
        status=429,
    ),
    bad(
        "aws-waf-202",
        "challenge",
        "challenge-header",
        html("", "<script src=challenge.js></script>"),
        status=202,
        headers=(("x-amzn-waf-action", "challenge"),),
    ),
    bad(
        "aws-waf-captcha-405",
        "challenge",
        "challenge-header",
        html("Human Verification", "<p>Let's confirm you are human</p>"),
        status=405,
        headers=(("x-amzn-waf-action", "captcha"),),
    ),
    bad(
        "akamai-403",
        "challenge",
        "challenge-vendor",
        '<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>You don\'t have permission to access "http&#58;&#47;&#47;a&#46;example" on this server.<P>Reference&#32;&#35;18&#46;2e&#46;17</BODY></HTML>',
        status=403,
    ),
    bad(
        "akamai-bm-200",
        "challenge",
        "challenge-vendor",
        "<html><head><meta http-equiv='refresh' content='5; URL=/?bm-verify=AAQ'></head><body></body></html>",
    ),
    bad(
        "imperva",
        "challenge",
        "challenge-vendor",
        "<html><body><iframe src='/_Incapsula_Resource?CWUDNSAI=9&xinfo=1'>Request unsuccessful. Incapsula incident ID: 449-1</iframe></body></html>",
    ),
    bad(
        "datadome-403",
        "challenge",
        "challenge-vendor",
        "<html><head><title>a.example</title></head><body><p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','cid':'A','host':'geo.captcha-delivery.com'}</script><script src='https://ct.captcha-delivery.com/c.js'></script></body></html>",
        status=403,
    ),
    bad(
        "human-403",
        "challenge",
        "challenge-vendor",
        html(
            "Access to this page has been denied",
            '<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><div id="px-captcha"></div>',
        ),
        status=403,
    ),
    bad(
        "vercel-429",
        "challenge",
        "challenge-header",
        html("Vercel Security Checkpoint", "<p>We're verifying your browser</p>"),
        status=429,
        headers=(("x-vercel-mitigated", "challenge"),),
    ),
    bad(
        "anubis-200",
        "challenge",
        "challenge-vendor",
        html(
            "Making sure you're not a bot!",
            "<h1>Making sure you're not a bot!</h1><img src='/.within.website/x/cmd/anubis/static/img/pensive.webp'><script id=\"anubis_challenge\" type='application/json'>{}</script><p>Loading...</p>",
        ),
    ),
    bad(
        "zhihu-zse-ck",
        "challenge",
        "challenge-vendor",
        '<!doctype html><html><head><meta id="zh-zse-ck" content="004"><title>知乎</title></head><body><p>知乎，让每一次点击都充满意义</p><script src="https://static.zhihu.com/zse-ck/v4/ab12.js"></script></body></html>',
        status=403,
    ),
    bad(
        "zhihu-unhuman",
        "challenge",
        "challenge-vendor",
        html(
            "安全验证 - 知乎", "<p>系统监测到您的网络环境存在异常风险，为保证您的正常访问，请输入验证码进行验证。</p>"
        ),
        path="/p/1234567890",
        leads=((302, "/account/unhuman"),),
    ),
    bad(
        "zhihu-40362",
        "challenge",
        "challenge-vendor",
        '{"error":{"message":"您当前请求存在异常，暂时限制本次访问。","code":40362}}',
        status=403,
        type="application/json",
    ),
    bad(
        "wechat-environment",
        "challenge",
        "challenge-vendor",
        html("", "<h2>环境异常</h2><p>当前环境异常，完成验证后即可继续访问。</p><a href='#'>去验证</a>"),
    ),
    bad("weibo-visitor", "challenge", "challenge-vendor", html("Sina Visitor System", "<script>incarnate()</script>")),
    bad(
        "baidu-200",
        "challenge",
        "challenge-vendor",
        html("百度安全验证", "<p>网络不给力，请稍后重试</p><a>返回首页</a><a>问题反馈</a>"),
    ),
    bad(
        "aliyun-arg1",
        "challenge",
        "challenge-vendor",
        "<html><script>var arg1='A1B2';document.cookie='acw_sc__v2='+arg1;document.location.reload()</script></html>",
    ),
    bad(
        "aliyun-405",
        "challenge",
        "challenge-vendor",
        html("405", "<p>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。</p>"),
        status=405,
    ),
    bad(
        "jiasule-521",
        "challenge",
        "challenge-vendor",
        "<script>document.cookie='__jsl_clearance_s=1';location.href=location.pathname</script>",
        status=521,
    ),
    bad(
        "bytedance",
        "challenge",
        "challenge-vendor",
        "<html><head></head><body><script>window._$jsvmprt=function(){};var s='__ac_signature='</script></body></html>",
    ),
    bad(
        "f5-200",
        "challenge",
        "challenge-vendor",
        "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your administrator.<br><br>Your support ID is: 177<br></body></html>",
    ),
    bad(
        "google-sorry",
        "challenge",
        "challenge-vendor",
        html(
            "https://a.example/",
            "<p>Our systems have detected unusual traffic from your computer network. Please try your request again later.</p>",
        ),
        leads=((302, "/sorry/index"),),
    ),
    bad(
        "reddit",
        "challenge",
        "challenge-vendor",
        html(
            "Reddit",
            "<h1>Prove your humanity</h1><p>Complete the challenge below and let us know you're a real person.</p>",
        ),
    ),
    bad(
        "generic-slider",
        "challenge",
        "challenge-generic",
        html("安全验证", "<div class='slider-captcha'></div><p>请拖动滑块完成验证</p>"),
    ),
    bad(
        "generic-recaptcha",
        "challenge",
        "challenge-generic",
        html(
            "Are you a robot?",
            "<p>Please confirm you are not a robot to continue.</p><div class='g-recaptcha' data-sitekey='k'></div>",
        ),
    ),
    bad(
        "generic-wait",
        "challenge",
        "challenge-generic",
        html(
            "Just a moment...",
            "<h1>a.example</h1><p>Checking your browser before accessing a.example. This process is automatic.</p><p>Please allow up to 5 seconds</p>",
        ),
    ),
    bad(
        "generic-wait-zh",
        "challenge",
        "challenge-generic",
        html("请稍候…", "<h1>某站</h1><p>正在检查您的浏览器，完成后将自动打开页面。</p>"),
    ),
    bad(
        "generic-wait-in-an-article-s-place",
        "challenge",
        "challenge-generic",
        html(
            "Just a moment...", "<h1>a.example</h1><p>We are checking your browser before you go on, please stay.</p>"
        ),
        before=html("Production", ARTICLE),
    ),
    bad(
        "generic-wait-refused",
        "challenge",
        "challenge-generic",
        html("Security check", "<p>The site will open on its own.</p>"),
        status=503,
    ),
    *(
        bad(f"script-{name}", "challenge", "challenge-script", page, status=status)
        for name, status, page in (
            (
                "reloads",
                200,
                html(
                    "a.example",
                    "<p>Checking your browser…</p><script>document.cookie='ok='+proof(7)+';path=/';setTimeout(function(){location.reload()},900)</script>",
                ),
            ),
            (
                "reloads-zh",
                403,
                html(
                    "某站",
                    "<p>正在为您检测访问环境，请稍候</p><script>document.cookie='t='+f();window.location.href=window.location.href</script>",
                ),
            ),
            ("reloads-without-a-word", 503, "<script>document.cookie='v=1';location.replace(location.href)</script>"),
            (
                "reloads-with-javascript-off",
                200,
                html(
                    "a.example",
                    "<noscript>Please enable JavaScript to continue.</noscript><p>One moment, please</p><script>document.cookie='a='+b;history.go(0)</script>",
                ),
            ),
        )
    ),
    bad(
        "script-reloads-in-words-of-its-own",
        "challenge",
        "challenge-script",
        html(
            "a.example",
            "<p>Selainta tarkistetaan, sivu avautuu hetken kuluttua itsestään kun tarkistus on valmis.</p><script>document.cookie='k='+n;location.reload(true)</script>",
        ),
        before=html("Production", ARTICLE),
    ),
    bad(
        "generic-ja",
        "challenge",
        "challenge-generic",
        html("確認", "<h1>ロボットではありません</h1><div class='h-captcha'></div>"),
    ),
    good(
        "script-on-good-page",
        "challenge-vendor",
        html(
            "Production",
            ARTICLE
            + "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script><script src='https://js.datadome.co/tags.js'></script><script src='/_Incapsula_Resource?SWJIYLWA=71'></script>",
        ),
    ),
    good(
        "script-on-short-page",
        "challenge-vendor",
        html(
            "Opening hours",
            "<p>The reading room is open from nine to five on weekdays, and closed on public holidays.</p><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        ),
    ),
    good(
        "header-of-a-customer",
        "challenge-header",
        html("Production", ARTICLE),
        headers=(("cf-ray", "7d1-FRA"), ("x-datadome", "protected"), ("Server", "cloudflare")),
    ),
    good(
        "about-captchas",
        "challenge-generic",
        html(
            "Just a moment... what challenge pages do",
            "<h1>Checking your browser: how challenges work</h1>"
            + ARTICLE
            + "<p>A page says “Verify you are human” and shows a captcha; the code is window._cf_chl_opt.</p>",
        ),
    ),
    good(
        "about-environment",
        "challenge-vendor",
        html(
            "环境异常的处理方法",
            "<h1>环境异常的处理方法</h1><p>公众号文章提示“环境异常，完成验证后即可继续访问”时，可以这样处理。</p>"
            + ARTICLE_ZH,
        ),
    ),
    good(
        "contact-form",
        "challenge-generic",
        html(
            "Contact us",
            "<h1>Contact us</h1><p>Write to the editors, we answer within two working days.</p><form><input name=mail><textarea></textarea><div class='g-recaptcha'></div></form>",
        ),
    ),
    good(
        "short-note-on-waiting-pages",
        "challenge-generic",
        html(
            "Just a moment...",
            "<h1>Waiting pages</h1><p>Some sites show a page that says it is checking your browser before it lets a reader in.</p><p>We count how long readers wait there.</p>",
        ),
        before=html(
            "Just a moment...",
            "<h1>Waiting pages</h1><p>Some sites show a page that says it is checking your browser before it lets a reader in.</p>",
        ),
    ),
    good(
        "language-in-a-cookie",
        "challenge-script",
        html(
            "Opening hours",
            "<p>The reading room is open from nine to five on weekdays, and closed on public holidays.</p><button onclick='pick()'>中文</button><script>function pick(){document.cookie='lang=zh';location.reload()}</script>",
        ),
    ),
    good(
        "about-cookie-challenges",
        "challenge-script",
        html(
            "How a cookie challenge works",
            "<h1>Checking your browser</h1><p>The page sets a cookie by script and loads itself again:</p><pre>document.cookie = 'ok=1'; location.reload();</pre>",
        ),
    ),
    good(
        "comment-captcha-zh",
        "challenge-generic",
        html("读者来信 - 站点", ARTICLE_ZH + "<form><p>请输入验证码</p><input name=验证码></form>"),
    ),
)

NOT_FOUND = (
    *(
        bad(
            f"not-found-{language}",
            "soft_404",
            "not-found-notice",
            html(title, f"<h1>{heading}</h1><p>{text}</p><a href='/'>↩</a>", language),
        )
        for language, title, heading, text in (
            ("en", "Page not found | Site", "404", "Sorry, the page you are looking for could not be found."),
            (
                "en-GB",
                "Oops!",
                "We can't find that page",
                "It may have moved. Check the address or go to the front page.",
            ),
            ("zh-CN", "页面不存在 - 某站", "页面不存在", "抱歉，您访问的页面不存在或已被删除。"),
            ("zh-SG", "某站", "404", "哎呀，您要找的页面走丢了。"),
            ("zh-TW", "找不到網頁－某站", "找不到網頁", "很抱歉，您要瀏覽的網頁不存在。"),
            (
                "ja",
                "ページが見つかりません｜サイト",
                "ページが見つかりません",
                "お探しのページは移動または削除された可能性があります。",
            ),
            ("ko", "페이지를 찾을 수 없습니다", "페이지를 찾을 수 없습니다", "요청하신 페이지가 존재하지 않습니다."),
            (
                "de",
                "Seite nicht gefunden – Verlag",
                "Seite nicht gefunden",
                "Die angeforderte Seite existiert leider nicht mehr.",
            ),
            ("fr", "Page introuvable", "Page introuvable", "La page que vous cherchez n’existe plus."),
            ("es", "Página no encontrada", "Página no encontrada", "La página que busca no existe."),
            ("pt", "Página não encontrada", "Página não encontrada", "A página que procura não existe."),
            ("ru", "Страница не найдена", "Страница не найдена", "Запрошенная страница не существует."),
            ("tr", "Sayfa bulunamadı", "Sayfa bulunamadı", "Aradığınız sayfa mevcut değil."),
            ("th", "ไม่พบหน้าที่คุณต้องการ", "ไม่พบหน้า", "ไม่พบหน้าที่คุณกำลังค้นหา"),
            ("it", "Pagina non trovata", "Pagina non trovata", "Torna alla home."),
        )
    ),
    bad(
        "not-found-framed",
        "soft_404",
        "not-found-notice",
        html(
            "Page not found - Field Review",
            "<nav>"
            + "".join(f"<a href='/{n}'>Section {n} of the review</a>" for n in range(30))
            + "</nav><h1>Page not found</h1><p>The page you requested does not exist.</p><h2>Latest</h2><ul>"
            + "".join(
                f"<li><a href='/n/{n}'>The council decides on bridge number {n} after a long debate</a></li>"
                for n in range(12)
            )
            + "</ul><footer><p>© Field Review, all rights reserved. Imprint. Terms of use.</p></footer>",
        ),
    ),
    bad(
        "not-found-no-title",
        "soft_404",
        "not-found-notice",
        "<html><body><p>没有找到您要访问的文件或目录。</p><p>错误代码为：404</p></body></html>",
    ),
    bad(
        "strange-address",
        "soft_404",
        "error-address",
        html("Field Review", "<p>Try the search or the front page.</p>"),
        leads=((302, "/errors/404.html"),),
    ),
    bad(
        "not-found-json",
        "soft_404",
        "not-found-data",
        '{"code": 404, "message": "article not found", "data": null}',
        type="application/json",
    ),
    bad(
        "probe-same",
        "soft_404",
        "same-as-invented",
        html(
            "Field Review",
            "<p>Welcome to the review.</p><p>Here is what our readers liked this week, as every week.</p><p>You asked for this-is-not-here</p>",
        ),
        unknown=html(
            "Field Review",
            "<p>Welcome to the review.</p><p>Here is what our readers liked this week, as every week.</p><p>You asked for this-is-not-here</p>",
        ),
    ),
    good(
        "about-404",
        "not-found-notice",
        html(
            "404 Not Found - HTTP | Reference",
            "<h1>404 Not Found</h1><p>The HTTP 404 Not Found client error response status code indicates that the server cannot find the requested resource.</p>"
            + ARTICLE,
        ),
    ),
    good(
        "about-404-short",
        "not-found-notice",
        html(
            "Why a page is not found after a deploy",
            "<h1>Why a page is not found after a deploy</h1><p>The rewrite rule was missing. Add it to the server's configuration, deploy once more and ask for the page again; the answer is then 200. We lost an afternoon to it and write it down so that you do not.</p>",
        ),
    ),
    good(
        "changelog",
        "not-found-notice",
        html(
            "Changes in 2.4",
            "<h1>Changes in 2.4</h1><ul><li>Page not found errors now name the page</li><li>Faster start</li><li>Fixed a leak in the cache</li></ul>",
        ),
    ),
    good(
        "error-path-cited",
        "error-address",
        html("Errors", "<h1>Error reference</h1><p>Code 17: the cache is full.</p>"),
        path="/docs/old/errors/",
        leads=((301, "/docs/errors/"),),
        word="redirected_permanent",
    ),
    good(
        "data-about-404",
        "not-found-data",
        '{"statuses": [{"code": 404, "meaning": "not found"}, {"code": 410, "meaning": "gone"}]}',
        type="application/json",
    ),
    good(
        "probe-other",
        "same-as-invented",
        html(
            "Production",
            "<nav>Field Review, a journal of record since 1921</nav><p>"
            + "The cache answers most of the tokens of a night, says the operator. " * 3
            + "</p>",
        ),
        unknown=html("Field Review", "<nav>Field Review, a journal of record since 1921</nav><p>Nothing is here.</p>"),
    ),
    good(
        "article-of-before",
        "not-found-notice",
        html("Page not found", "<h1>Page not found</h1>" + OTHER),
        before=html("Page not found, a short story", "<h1>Page not found</h1>" + OTHER),
    ),
)

REMOVED = (
    bad("removed-wechat", "removed_notice", "removed-notice", html("", "<div><h2>该内容已被发布者删除</h2></div>")),
    bad(
        "removed-wechat-violation",
        "removed_notice",
        "removed-notice",
        html("", "<p>此内容因违规无法查看</p><p>由用户投诉并经平台审核，涉嫌违反相关法律法规和政策，查看对应规则</p>"),
    ),
    bad("removed-account", "removed_notice", "removed-notice", html("", "<p>该公众号已被封禁</p>")),
    bad(
        "removed-reddit",
        "removed_notice",
        "removed-notice",
        html("Reddit", "<p>Sorry, this post was removed by the moderators.</p>"),
    ),
    bad(
        "removed-medium", "removed_notice", "removed-notice", html("Medium", "<h2>The author deleted this story.</h2>")
    ),
    bad("removed-ja", "removed_notice", "removed-notice", html("ブログ", "<p>この記事は削除されました。</p>")),
    good(
        "about-removal",
        "removed-notice",
        html(
            "平台删除规则",
            "<h1>平台删除规则</h1><p>当显示“该内容已被发布者删除”时，说明作者自行删除了文章。</p>" + ARTICLE_ZH,
        ),
    ),
    good(
        "thread-with-removed-comment",
        "removed-notice",
        html("Thread", ARTICLE + "<p>This comment was removed by the moderators.</p>"),
    ),
)

WALLS = (
    bad(
        "login-redirect",
        "login_wall",
        "login-wall",
        html("Sign in · Site", "<h1>Sign in</h1><form><input name=login><input type=password></form>"),
        leads=((302, "/login"),),
    ),
    bad(
        "login-200",
        "login_wall",
        "login-wall",
        html("Log in", "<p>You must log in to continue.</p><form><input type='password'></form>"),
    ),
    bad(
        "login-zh",
        "login_wall",
        "login-wall",
        html("登录 - 某站", "<p>请先登录后查看全部内容</p><form><input type=password></form>"),
    ),
    bad(
        "login-ja",
        "login_wall",
        "login-wall",
        html("ログイン", "<p>この記事を読むにはログインしてください</p><form><input type=password></form>"),
    ),
    good(
        "login-in-header",
        "login-wall",
        html("Production", "<header><a href='/login'>Log in</a> <form><input type=password></form></header>" + ARTICLE),
    ),
    good(
        "login-in-header-short",
        "login-wall",
        html(
            "Opening hours",
            "<header><a href='/login'>Log in</a><a href='/join'>Sign up</a></header><p>The reading room is open from nine to five on weekdays, and closed on public holidays.</p>",
        ),
    ),
    good(
        "login-cited",
        "login-wall",
        html("Log in", "<h1>Log in</h1><p>You must log in to continue.</p><form><input type=password></form>"),
        path="/login",
    ),
    bad("payment-402", "payment_required", "status-402", html("Payment required", "<p>Pay first.</p>"), status=402),
    bad(
        "paywall-ld",
        "payment_required",
        "paywall",
        html(
            "The bridge",
            '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":"False"}</script><h1>The bridge</h1><p>On a grey morning the council met to decide what had been put off for years.</p><div>Subscribe to continue reading</div>',
        ),
    ),
    bad(
        "paywall-zh",
        "payment_required",
        "paywall",
        html(
            "大桥",
            "<h1>大桥</h1><p>灰蒙蒙的早晨，议会开会决定拖延多年的事情。</p><p>本文为付费内容，订阅后可阅读全文</p>",
        ),
    ),
    bad(
        "paywall-lost",
        "payment_required",
        "paywall",
        html("Production", ARTICLE[:300] + "</p><p>This article is for subscribers only.</p>"),
        before=html("Production", ARTICLE),
    ),
    good(
        "paid-but-whole",
        "paywall",
        html(
            "Production",
            '<script type="application/ld+json">{"isAccessibleForFree": false}</script>'
            + ARTICLE
            + "<div>Subscribe to continue reading</div>",
        ),
    ),
    good(
        "newsletter-box",
        "paywall",
        html(
            "Opening hours",
            "<p>The reading room is open from nine to five on weekdays.</p><p>Subscribe to our newsletter to hear of changes.</p>",
        ),
    ),
    bad(
        "leaving-zh",
        "interstitial",
        "leaving-notice",
        html(
            "离站提示",
            "<p>您即将离开本站，跳转到第三方网站</p><p>请注意您的账号和财产安全</p><a href='https://b.example/'>继续访问</a>",
        ),
    ),
    bad(
        "leaving-en",
        "interstitial",
        "leaving-notice",
        html(
            "You are leaving our site",
            "<h1>You are leaving our site</h1><p>This link will take you to https://b.example/.</p>",
        ),
    ),
    good(
        "about-leaving",
        "leaving-notice",
        html("You are leaving the party", "<h1>You are leaving the party</h1>" + ARTICLE),
    ),
    bad(
        "consent",
        "interstitial",
        "consent-wall",
        html(
            "Before you continue to Site",
            "<h1>Before you continue</h1><p>We use cookies and data to deliver our services.</p><button>Accept all</button>",
        ),
    ),
    bad(
        "age-gate",
        "interstitial",
        "consent-wall",
        html("Age verification", "<h1>Are you over 18?</h1><button>Yes</button><button>No</button>"),
    ),
    good(
        "cookie-banner",
        "consent-wall",
        html(
            "Opening hours",
            "<div class='cookie'>We use cookies. <button>Accept all cookies</button></div><p>The reading room is open from nine to five on weekdays, and closed on public holidays.</p>",
        ),
    ),
    good("about-privacy", "consent-wall", html("We value your privacy", "<h1>We value your privacy</h1>" + ARTICLE)),
    bad(
        "waiting-room",
        "interstitial",
        "waiting-room",
        html("Waiting Room", "<h1>You are now in line</h1><p>Your estimated wait time is 4 minutes.</p>"),
        headers=(("Set-Cookie", "__cfwaitingroom=a; path=/"),),
    ),
    bad("waiting-zh", "interstitial", "waiting-room", html("排队中", "<h1>排队人数较多</h1><p>您前面还有 120 人</p>")),
    good(
        "about-queues",
        "waiting-room",
        html("Waiting rooms in hospitals", "<h1>Waiting rooms in hospitals</h1>" + ARTICLE),
    ),
)

SHELLS = (
    bad(
        "shell-root",
        "needs_js",
        "script-shell",
        html(
            "App",
            '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src=/app.js></script>',
        ),
    ),
    bad(
        "shell-loading",
        "needs_js",
        "script-shell",
        html("App", "<div id='app'>Loading...</div><script src=/app.js></script>"),
    ),
    bad(
        "shell-x",
        "needs_js",
        "script-shell",
        html(
            "X",
            "<h1>JavaScript is not available.</h1><p>Please enable JavaScript or switch to a supported browser to continue.</p><script src=/a.js></script>",
        ),
    ),
    good(
        "noscript-notice",
        "script-shell",
        html(
            "Production",
            "<noscript>You need to enable JavaScript to vote.</noscript><div id='root'>"
            + ARTICLE
            + "</div><script src=/app.js></script>",
        ),
    ),
    good(
        "short-real-page",
        "script-shell",
        html(
            "Opening hours",
            "<p>The reading room is open from nine to five on weekdays, and closed on public holidays and in August.</p><script src=/count.js></script>",
        ),
    ),
    bad(
        "script-stub",
        "redirected_js",
        "script-redirect",
        "<html><head><script>window.location.href = 'https://b.example/new';</script></head><body></body></html>",
    ),
    bad(
        "script-stub-replace",
        "redirected_js",
        "script-redirect",
        html("Redirecting", "<p>Redirecting…</p><script>location.replace('/new')</script>"),
    ),
    good(
        "location-in-script",
        "script-redirect",
        html(
            "Opening hours",
            "<p>The reading room is open from nine to five on weekdays, and closed on public holidays and in August.</p><script>if(top!=self){top.location=self.location}; go=function(){location.href='/x'}</script>",
        ),
    ),
)

VACANT = (
    bad(
        "parked-sedo",
        "parked_domain",
        "parked-domain",
        html(
            "notes.example",
            "<h1>notes.example is for sale</h1><p>Buy this domain.</p><script src='https://sedoparking.com/frmpark/x.js'></script>",
        ),
    ),
    bad(
        "parked-zh",
        "parked_domain",
        "parked-domain",
        html("notes.example 域名出售", "<h1>该域名正在出售</h1><p>您正在访问的域名可以转让！</p>"),
    ),
    bad(
        "parked-de",
        "parked_domain",
        "parked-domain",
        html("notes.example", "<h1>Die Domain notes.example steht zum Verkauf</h1><p>Domain kaufen</p>"),
    ),
    bad(
        "parked-related",
        "parked_domain",
        "parked-domain",
        html(
            "notes.example",
            "<p>Related searches</p><ul><li><a href=/1>Loans</a></ul><p>This domain may be for sale</p><script src='https://www.google.com/adsense/domains/caf.js'></script>",
        ),
    ),
    good(
        "about-domain-sales",
        "parked-domain",
        html("This domain is for sale: a history", "<h1>This domain is for sale</h1>" + ARTICLE),
    ),
    bad(
        "suspended",
        "site_suspended",
        "suspended-notice",
        html(
            "Account Suspended",
            "<h1>Account Suspended</h1><p>This Account has been suspended. Contact your hosting provider for more information.</p>",
        ),
        leads=((302, "/cgi-sys/suspendedpage.cgi"),),
    ),
    bad(
        "icp-403",
        "site_suspended",
        "suspended-notice",
        html(
            "该网站暂时无法访问", "<h1>该网站暂时无法访问</h1><p>该网站未备案，根据工信部相关规定暂时无法进行访问。</p>"
        ),
        status=403,
    ),
    good(
        "about-suspension",
        "suspended-notice",
        html("Why was my account suspended?", "<h1>Account suspended</h1>" + ARTICLE),
    ),
    good(
        "icp-footer",
        "suspended-notice",
        html(
            "开放时间", "<p>阅览室工作日九点至五点开放，节假日闭馆。</p><footer>京ICP备12345678号 工信部备案</footer>"
        ),
    ),
    bad(
        "nginx",
        "default_page",
        "default-page",
        html(
            "Welcome to nginx!",
            "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and working. Further configuration is required.</p><p><em>Thank you for using nginx.</em></p>",
        ),
    ),
    bad(
        "apache",
        "default_page",
        "default-page",
        html(
            "Apache2 Ubuntu Default Page: It works",
            "<p>It works!</p><p>This is the default welcome page used to test the correct operation of the Apache2 server after installation on Ubuntu systems.</p>"
            + "<p>The configuration layout for an Apache2 web server installation on Ubuntu systems is as follows, with several directories and links.</p>"
            * 9,
        ),
    ),
    bad(
        "iis",
        "default_page",
        "default-page",
        html("IIS Windows Server", "<a href='https://go.example'><img src='iisstart.png' alt='IIS'></a>"),
    ),
    bad(
        "bt-panel",
        "default_page",
        "default-page",
        html("恭喜，站点创建成功！", "<h3>恭喜, 站点创建成功！</h3><p>这是默认index.html，本页面由系统自动生成</p>"),
    ),
    good(
        "about-nginx",
        "default-page",
        html("Welcome to nginx! What it means", "<h1>Welcome to nginx!</h1>" + ARTICLE + OTHER),
    ),
    good(
        "short-install-note",
        "default-page",
        html(
            "Installing the server",
            "<h1>Installing the server</h1><p>Run the command below. If you can see this page on port 80 the server works, and you can go on to the next chapter of the manual.</p>",
        ),
    ),
    bad(
        "traceback",
        "soft_500",
        "error-dump",
        html(
            "Site",
            '<pre>Traceback (most recent call last):\n  File "/srv/app.py", line 3, in view\n    return rows[0]\nIndexError: list index out of range</pre>',
        ),
    ),
    bad(
        "php-fatal",
        "soft_500",
        "error-dump",
        "<br /><b>Fatal error</b>: Uncaught Error: Call to undefined function get() in /var/www/index.php:3 Stack trace: #0 {main} thrown in <b>/var/www/index.php</b> on line <b>3</b><br />",
    ),
    bad(
        "sql-error",
        "soft_500",
        "error-dump",
        html(
            "Site",
            "<p>You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version</p>",
        ),
    ),
    bad(
        "application-error-framed",
        "soft_500",
        "error-dump",
        html(
            "Field Review",
            "<nav>"
            + "".join(f"<a href='/{n}'>Section {n}</a>" for n in range(20))
            + "</nav><h2>Application error: a client-side exception has occurred (see the browser console for more information).</h2><footer>© Field Review</footer>",
        ),
    ),
    good(
        "about-tracebacks",
        "error-dump",
        html(
            "Reading tracebacks",
            '<p>A traceback starts like this:</p><pre>Traceback (most recent call last):\n  File "a.py", line 3</pre>'
            + ARTICLE,
        ),
    ),
    good(
        "php-warning-above",
        "error-dump",
        html("Production", "<b>Warning</b>: include(/var/www/a.php): failed to open stream on line 3<br>" + ARTICLE),
    ),
    bad(
        "internal-error-200",
        "soft_500",
        "trouble-notice",
        html("500 Internal Server Error", "<h1>Internal Server Error</h1><p>Please try again later.</p>"),
    ),
    bad("maintenance-zh", "soft_500", "trouble-notice", html("系统维护中", "<h1>系统维护中</h1><p>请稍后再试。</p>")),
    good(
        "about-outage",
        "trouble-notice",
        html("Service unavailable: the outage of May", "<h1>Service temporarily unavailable</h1>" + ARTICLE),
    ),
    bad(
        "blocked-200",
        "forbidden",
        "block-notice",
        html("Access denied", "<h1>Access denied</h1><p>Your IP address has been blocked.</p>"),
    ),
    good(
        "forbidden-city",
        "block-notice",
        html(
            "Forbidden City",
            "<h1>Forbidden City</h1><p>The palace is open from eight thirty, except on Mondays. Tickets are sold online a week ahead.</p>",
        ),
    ),
    bad(
        "region", "forbidden", "region-notice", html("", "<p>Sorry, this content is not available in your region.</p>")
    ),
    good(
        "about-regions",
        "region-notice",
        html(
            "Availability",
            "<h1>Availability</h1><p>The film is not available in your country until May; libraries lend it from June, and cinemas show it in three cities this summer. The distributor has promised a wider release, and schools may ask for a copy at no cost.</p><p>Prices are on the next page.</p>",
        ),
    ),
    bad(
        "portal",
        "network_auth",
        "network-portal",
        html(
            "Please wait, the login page is opening...",
            "<p>Please wait, the login page is opening in 2 seconds...</p><a href='http://10.254.254.78/0/up/'>click here</a>",
        ),
    ),
    bad(
        "filter-zh",
        "network_auth",
        "network-portal",
        html("上网认证", "<p>上网认证系统</p><script src='/ac_portal/login.js'></script><input type=password>"),
    ),
    good(
        "about-portals",
        "network-portal",
        html("Captive portals", "<h1>Captive portals</h1>" + ARTICLE + "<p>It leads to http://10.0.0.1/.</p>"),
    ),
)

KINDS = (
    bad("no-byte", "empty_body", "no-byte", b""),
    bad("spaces", "empty_body", "no-byte", b" \r\n "),
    bad("no-word", "empty_body", "no-word", "<html><head><title>Title</title></head><body><p></p></body></html>"),
    good(
        "only-a-frame",
        "no-word",
        "<html><head><title>Doc</title></head><body><iframe src='http://127.0.0.1:9/x' width=900 height=900></iframe></body></html>",
        word="ok_partial",
    ),
    good("empty-list", "no-byte", b"[]", type="application/json"),
    bad(
        "html-for-pdf",
        "wrong_type",
        "other-type",
        html("Paper", "<p>Download the paper from our new portal.</p>"),
        path="/papers/cache.pdf",
    ),
    bad(
        "html-for-picture",
        "wrong_type",
        "no-picture",
        html("Panel", "<p>See the panel.</p>"),
        path="/panel.png",
        figure=True,
    ),
    good(
        "wiki-file",
        "other-type",
        html(
            "File:Panel.png",
            "<h1>File:Panel.png</h1><p>A picture of the production panel, taken in May by a reader of ours.</p>",
        ),
        path="/wiki/File:Panel.png",
    ),
    good(
        "forge-file",
        "other-type",
        html(
            "cache.pdf at main",
            "<p>The forge shows the file with its history, its authors and a button to fetch it.</p>",
        ),
        path="/a/b/blob/main/cache.pdf",
    ),
    good("octet-stream", "other-type", html("Production", ARTICLE), type="application/octet-stream"),
    bad(
        "pdf-cut",
        "document_broken",
        "document-broken",
        b"%PDF-1.7\n1 0 obj\n<<",
        type="application/pdf",
        path="/papers/cache.pdf",
    ),
)

FRAME = "<nav><a href='/reviews'>Reviews</a><a href='/letters'>Letters</a><a href='/about'>About us</a></nav>"
LANDINGS = (
    bad("to-home", "redirected_to_home", "led-to-front-page", html("Field Review", ARTICLE), leads=((302, "/"),)),
    bad(
        "to-home-locale",
        "redirected_to_home",
        "led-to-front-page",
        html("Field Review", ARTICLE),
        leads=((301, "/en/"),),
    ),
    bad(
        "to-section",
        "redirected_to_home",
        "led-to-section",
        html(
            "Reports",
            "<ul>"
            + "".join(f"<li><a href='/reports/{n}.html'>The report number {n} on bridges</a></li>" for n in range(20))
            + "</ul>",
        ),
        path="/reports/bridges/north.html",
        leads=((302, "/reports/"),),
    ),
    good(
        "home-cited",
        "led-to-front-page",
        html("Field Review", ARTICLE),
        path="/index.html",
        leads=((301, "/"),),
        word="redirected_permanent",
    ),
    good(
        "home-holds-quote",
        "led-to-front-page",
        html("Field Review", ARTICLE),
        leads=((301, "/"),),
        word="redirected_permanent",
        quotes=("places experts at night",),
    ),
    good(
        "slug-dropped",
        "led-to-section",
        html("Production", ARTICLE),
        path="/p/123456/why-the-cache",
        leads=((301, "/p/123456"),),
        word="redirected_permanent",
    ),
    good(
        "to-article",
        "led-to-front-page",
        html("Production", ARTICLE),
        leads=((302, "/2025/production"),),
        word="redirected_temporary",
    ),
)

CHANGED = (
    bad("scrambled-zh", "challenge", "scrambled-text", html("生产", SCRAMBLED_ZH), before=html("生产", ARTICLE_ZH)),
    bad(
        "replaced",
        "content_replaced",
        "other-document",
        html("Casino bonus", OTHER),
        before=html("Production of tokens", ARTICLE),
    ),
    bad(
        "replaced-under-a-short-title",
        "content_replaced",
        "other-document",
        html("Buy now", OTHER),
        before=html("How we do it", ARTICLE),
    ),
    bad(
        "replaced-under-the-old-title",
        "content_replaced",
        "other-document",
        html("Field Review", f"<nav><a href='/play'>Play</a><a href='/win'>Win</a></nav><h1>Casino bonus</h1>{OTHER}"),
        before=html("Field Review", f"{FRAME}<h1>Production of tokens</h1>{ARTICLE}"),
    ),
    bad("scrambled-by-font", "challenge", "scrambled-text", html("生产", SWAPPED_ZH), before=html("生产", ARTICLE_ZH)),
    good(
        "rewritten",
        "scrambled-text",
        html("生产情况", ARTICLE_ZH.replace("缓存", "高速缓存").replace("夜间", "晚上").replace("调度器", "调度程序")),
        before=html("生产", ARTICLE_ZH),
    ),
    good(
        "redesigned",
        "other-document",
        html("Production of tokens", OTHER),
        before=html("Production of tokens", ARTICLE),
    ),
    good(
        "redesigned-under-a-short-title",
        "other-document",
        html("How we do it", OTHER),
        before=html("How we do it", ARTICLE),
    ),
    good(
        "the-day-s-text-within-its-frame",
        "other-document",
        html("Field Review", f"{FRAME}<h1>Casino bonus</h1>{OTHER}"),
        before=html("Field Review", f"{FRAME}<h1>Production of tokens</h1>{ARTICLE}"),
    ),
    good("thread-grown", "other-document", html("Thread", ARTICLE + OTHER), before=html("Old thread", ARTICLE)),
)

_WHOLE = html("Production", f"<h1>Production</h1>{ARTICLE}")
_UNCLOSED = _WHOLE.removesuffix("</body></html>")
_NOTES = "# Production\n\n" + "\n\n".join(re.findall("<p>(.*?)</p>", ARTICLE)) + "\n"
CUT = (
    bad("cut-in-a-tag", "body_truncated", "cut-off", _WHOLE[:-30] + "<p class", framed=False),
    bad("cut-in-a-script", "body_truncated", "cut-off", _UNCLOSED + "<script>var a = 1; if (a", framed=False),
    bad("cut-in-a-word", "body_truncated", "cut-off", _UNCLOSED[:-600], framed=False, before=_WHOLE),
    bad(
        "cut-between-blocks",
        "body_truncated",
        "cut-off",
        _UNCLOSED[: _UNCLOSED.index("</p>", 900) + 4],
        framed=False,
        before=_WHOLE,
    ),
    bad("cut-text", "body_truncated", "cut-off", _NOTES[:1_000], framed=False, before=_NOTES, type="text/plain"),
    good("never-closed", "cut-off", _UNCLOSED, framed=False, before=_UNCLOSED + "<p>A last word of the day.</p>"),
    good("shortened-and-closed", "cut-off", html("Production", ARTICLE[:1_200]), framed=False, before=_WHOLE),
    good(
        "rewritten-unclosed",
        "cut-off",
        _UNCLOSED.replace(ARTICLE, "<p>A page of few words about the places experts take in Production.</p>"),
        framed=False,
        before=_WHOLE,
    ),
    good(
        "shortened-text", "cut-off", _NOTES[:1_000].rpartition("\n")[0], framed=False, before=_NOTES, type="text/plain"
    ),
    good("told-its-length", "cut-off", _WHOLE[:-30] + "<p class"),
)

FRAGMENTS = (
    bad(
        "anchor-missing",
        "ok_fragment_missing",
        "anchor",
        html("Production", "<h2 id=cost>Cost</h2>" + ARTICLE),
        fragment="speed",
        holds="experts",
    ),
    bad(
        "text-missing",
        "ok_fragment_missing",
        "text-fragment",
        html("Production", ARTICLE),
        fragment=":~:text=a%20sentence%20of%20nobody",
        holds="experts",
    ),
    good("anchor-id", "anchor", html("Production", "<h2 id=cost>Cost</h2>" + ARTICLE), fragment="cost"),
    good("anchor-name", "anchor", html("Production", "<a name=cost></a>" + ARTICLE), fragment="cost"),
    good("anchor-encoded", "anchor", html("生产", "<h2 id=成本>成本</h2>" + ARTICLE_ZH), fragment="%E6%88%90%E6%9C%AC"),
    good("anchor-forge", "anchor", html("Production", "<h2 id=user-content-cost>Cost</h2>" + ARTICLE), fragment="cost"),
    good("script-route", "anchor", html("Production", ARTICLE), fragment="/p/1"),
    good("script-route-bang", "anchor", html("Production", ARTICLE), fragment="!p=1"),
    good("code-line", "anchor", html("Production", ARTICLE), fragment="L10-L20"),
    good(
        "text-there",
        "text-fragment",
        html("Production", ARTICLE),
        fragment=":~:text=how%20the-,scheduler,experts,-at%20night",
    ),
)

STATUSES = tuple(
    bad(
        f"status-{status}",
        word,
        f"status-{status}",
        b"" if status in (204, 205, 304) else html("Production", ARTICLE),
        status=status,
    )
    for word, statuses in {
        "empty_body": (204, 205, 304),
        "partial_content": (206,),
        "redirect_bad_location": (300,),
        "client_error": (400, 405, 408, 409, 418, 421, 423, 498),
        "auth_required": (401, 407),
        "payment_required": (402,),
        "forbidden": (403, 406, 999),
        "not_found": (404,),
        "gone": (410,),
        "rate_limited": (429,),
        "unavailable_for_legal": (451,),
        "server_error": (500, 501, 502, 503, 504, 507, 508, 520, 522, 525, 530, 598),
        "network_auth": (511,),
    }.items()
    for status in statuses
)
BODIES = (
    bad(
        "gzip-broken",
        "bad_encoding",
        "does-not-decode",
        b"\x1f\x8b\x08\x00broken in every way",
        headers=(("Content-Encoding", "gzip"),),
    ),
    bad(
        "coding-unknown",
        "bad_encoding",
        "unknown-coding",
        b"\x00\x01\x02\x03\x04",
        headers=(("Content-Encoding", "aes128gcm"),),
    ),
    bad(
        "gzip-cut",
        "body_truncated",
        "coding-unfinished",
        gzip.compress(html("Production", ARTICLE).encode())[:-40],
        headers=(("Content-Encoding", "gzip"),),
    ),
    bad(
        "bomb",
        "decompression_bomb",
        "over-size-unpacked",
        zlib.compress(bytes(101_000_000), 1),
        headers=(("Content-Encoding", "deflate"),),
    ),
    bad(
        "404-broken",
        "not_found",
        "status-404",
        b"\x1f\x8b\x08\x00broken in every way",
        status=404,
        headers=(("Content-Encoding", "gzip"),),
    ),
    bad(
        "challenge-broken",
        "challenge",
        "challenge-header",
        b"\x1f\x8b\x08\x00broken in every way",
        status=403,
        headers=(("Content-Encoding", "gzip"), ("cf-mitigated", "challenge")),
    ),
    good("gzip-lying", "", html("Production", ARTICLE), headers=(("Content-Encoding", "gzip"),), holds="experts"),
    good(
        "gzip",
        "",
        gzip.compress(html("Production", ARTICLE).encode()),
        headers=(("Content-Encoding", "gzip"),),
        holds="experts",
    ),
)
"""Bodies and their codings; `judge` decides before there is a document."""

REFRESHES = (
    good(
        "meta-refresh",
        "",
        html("Production", ARTICLE),
        word="redirected_meta",
        leads=((200, "/2025/production"),),
        holds="experts",
    ),
    bad(
        "meta-refresh-home",
        "redirected_to_home",
        "led-to-front-page",
        html("Field Review", ARTICLE),
        leads=((200, "/"),),
    ),
)
ROBOTS = (
    StandIn(
        "robots",
        "robots_disallowed",
        "robots-disallow",
        page=html("Production", ARTICLE),
        robots="User-agent: *\nDisallow: /\n",
    ),
)

ALL = (*CHALLENGES, *NOT_FOUND, *REMOVED, *WALLS, *SHELLS, *VACANT, *KINDS, *LANDINGS, *CHANGED, *CUT, *FRAGMENTS)
