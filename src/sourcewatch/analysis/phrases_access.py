"""The sentences of the login page, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

# key: (zh-CN, en)
ACCESS: Mapping[str, tuple[str, str]] = {
    "a_title": ("登录", "Log in"),
    "a_token": ("令牌", "Token"),
    "a_enter": ("登录", "Log in"),
    "a_leave": ("退出", "Log out"),
    "a_whence": (
        "令牌由管理员用 sourcewatch token add 生成。",
        "The operator makes one with: sourcewatch token add",
    ),
    "a_wrong": ("没有这个令牌。", "There is no such token."),
    "a_wait": ("错误次数太多，请 {n} 秒后再试。", "Too many wrong tokens; try again in {n:second}."),
    "a_here": ("已以 {name} 的身份登录。", "You are logged in as {name}."),
    "a_open": (
        "此服务只对本机开放，尚无令牌，不需要登录。",
        "Only this machine reaches this service and there is no token: nobody needs to log in.",
    ),
}
