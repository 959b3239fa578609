"""The sentences about addresses that moved, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

# key: (zh-CN, en)
WHITHER: Mapping[str, tuple[str, str]] = {
    "oc_title": ("其他存档中的副本", "Copies in other archives"),
    "oc_of": ("{archive}，存档于 {at}", "{archive}, archived {at}"),
    "oc_error": ("存档的不是原文：{why}", "what was archived is not the source: {why}"),
    "oc_offered": ("可代替引用版本", "it can stand for the cited version"),
    "oc_lacks": ("与引用版本不符", "it does not hold what is cited"),
    "oc_saved": ("对方称已保存，尚未核实", "saved there, by its own word; it was not read yet"),
    "mv_title": ("新地址的线索", "Where it seems to have moved"),
    "mv_note": (
        "以下地址都已实际读取，并与最后采用的版本比较过。采用后，sources.toml 中的 url 会改为新地址，"
        "旧地址记入 formerly；日期从新地址的第一次读取重新算起。",
        "Each address was read and compared with the last accepted version. When you accept one, `url` in sources.toml "
        "changes and `formerly` remembers the old address; the date starts anew with the first reading there.",
    ),
    "mv_redirect": ("永久重定向", "permanent redirect"),
    "mv_canonical": ("页面自报的规范地址", "the page's own address"),
    "mv_github": ("GitHub 改名或移动", "renamed on GitHub"),
    "mv_doi": ("DOI 解析", "DOI"),
    "mv_sitemap": ("站点地图", "site map"),
    "mv_same_title": ("标题相同", "the same title"),
    "mv_other_title": ("标题为“{title}”", "its title is “{title}”"),
    "mv_kept": ("旧文尚存 {kept}", "{kept} of the old text stands there"),
    "mv_never": ("来源从未读到，无从比较", "the source was never read: there is nothing to compare with"),
    "mv_quotes": ("引文 {held}/{sought} 条仍在", "{held} of {sought:quote} stand there"),
    "mv_accept": ("采用此地址", "Cite it there"),
    "mv_refuse": ("不是同一篇", "Not the same"),
    "mv_look": ("查找新地址", "Look where it moved"),
    "mv_formerly": ("旧地址", "formerly at"),
    "mv_none": ("没有这条线索。", "There is no such proposal."),
    "mv_decided": ("已有人对此作出决定。", "Somebody has decided about it already."),
    "mv_done": ("已写入 sources.toml：{url}", "sources.toml was changed: {url}"),
}
