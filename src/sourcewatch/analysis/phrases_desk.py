"""The sentences of the editors' desk, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

# key: (zh-CN, en)
DESK: Mapping[str, tuple[str, str]] = {
    "r_no_name": ("请填写姓名：每个决定都要署名。", "A decision has a name: say who decides."),
    "r_too_long": ("姓名或备注太长。", "The name or the note is too long."),
    "r_no_version": (
        "此来源从未读到，没有可以采信的版本。",
        "This source was never read: there is no version to accept.",
    ),
    "r_nothing": ("没有可以撤销的决定。", "There is no decision to take back."),
    "r_overtaken": (
        "刚才有人对同一版本作出了决定，您的决定没有写入。请先看看那个决定。",
        "Somebody has decided about this version in the meantime; yours was not taken. Look at theirs first.",
    ),
    "r_rule": (
        '若要以后不再告知此处，可在 sources.toml 中为此来源加上 ignore = ["{rule}"]。',
        'To hear no more of this place, give the source ignore = ["{rule}"] in sources.toml.',
    ),
    "r_no_rule": (
        "没有能只略去此处、又不会遮住引文的规则。",
        "No rule would leave out this place alone without the risk of hiding a quote.",
    ),
    "r_reviewed": ("已看过", "reviewed"),
    "r_accepted": ("已采信为引用基准", "accepted as the cited version"),
    "r_unimportant": ("不重要", "not important"),
    "r_fix": ("网站需要修改", "the site must be mended"),
    "r_undone": ("已撤销", "taken back"),
    "r_by": ("{what}：{by}，{at}", "{what} by {by}, {at}"),
}
