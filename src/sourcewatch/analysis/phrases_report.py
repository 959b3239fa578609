"""The sentences of the overview plots and of the published list of what could not be read."""

from __future__ import annotations

from collections.abc import Mapping

# key: (zh-CN, en)
REPORT: Mapping[str, tuple[str, str]] = {
    "sections": ("本页各节", "Sections"),
    "evidence": ("依据", "evidence"),
    "u_as_of": (
        "截至 {at}，本站引用的以下内容我们读不到。",
        "As of {at}, we could not read the following that this site cites.",
    ),
    "u_nothing": (
        "截至 {at}，本站引用的来源我们全部读到。",
        "As of {at}, we could read every source that this site cites.",
    ),
    "u_unknown": (
        "截至 {at}，没有可靠的读取结果，无从断言。",
        "As of {at}, nothing was read reliably, so nothing can be said.",
    ),
    "u_since": ("自 {at}起读不到", "could not be read since {at}"),
    "u_last": ("最后读到：{at}", "last read {at}"),
    "u_never": ("从未读到", "never read"),
    "u_by_person": ("曾由人工读取：{at}", "read by a person {at}"),
    "u_unverified": ("因此未能核实", "unverified for that reason"),
    "u_date": ("“最后读到”只在真正读到来源本身时才会更新。", "“Last read” moves only when the source itself was read."),
    "p_overview": ("总览", "Overview"),
    "p_survival": ("各层级来源中仍可读到的比例", "Share of sources still readable, by tier"),
    "p_survival_alt": (
        "过去 {weeks} 周：{tiers}。",
        "Over the last {weeks:week}: {tiers}.",
    ),
    "p_share": ("{tier} {share}（{readable}/{known}）", "{tier} {share} ({readable} of {known})"),
    "p_changes": ("每周发现的改动", "Changes found each week"),
    "p_changes_alt": (
        "{weeks} 周内共 {n} 处；最多的一周自 {monday} 起，{most} 处。实心：引文、数字或图片；空心：其他。",
        "{n:change} in {weeks:week}; most in the week of {monday}: {most}. "
        "Filled: quotes and figures; outlined: all others.",
    ),
    "p_calendar": ("每日读取情况", "What was read each day"),
    "p_calendar_alt": (
        "自 {since} 起；每格一天，填色越浓表示当天确实读到的来源越多，叉越大表示读取失败的来源越多。"
        "读不到的来源最多的一天：{day}，{failed} 个。"
        "一段连续读到的时间只能证实首尾两天；圆点表示处于其间的日子，当天是否读取见每日存档。",
        "Since {since}; a square a day: the fuller its shade the more sources were certainly read, "
        "the larger its cross the more could not be. "
        "Most failed on {day}: {failed:source}. "
        "An unbroken stretch of readings proves its first and its last day; a dot is a day between, "
        "and whether anything was asked on it is in the daily archive.",
    ),
    "p_calendar_whole": (
        "自 {since} 起；每格一天，填色越浓表示当天确实读到的来源越多。没有失败。"
        "一段连续读到的时间只能证实首尾两天；圆点表示处于其间的日子，当天是否读取见每日存档。",
        "Since {since}; a square a day: the fuller its shade the more sources were certainly read. None failed. "
        "An unbroken stretch of readings proves its first and its last day; a dot is a day between, "
        "and whether anything was asked on it is in the daily archive.",
    ),
    "p_hosts": ("读不到的来源所在的主机", "Hosts of what cannot be read"),
    "p_hosts_alt": ("{hosts} 个主机，来源最多的是 {host}（{n} 个）。", "{hosts:host}; most sources on {host} ({n})."),
    "p_numbers": ("数字", "The numbers"),
    "p_week": ("周", "week of"),
    "p_loud": ("引文、数字或图片", "quotes and figures"),
    "p_other": ("其他", "others"),
    "p_day": ("日期", "day"),
    "p_read": ("读到", "read"),
    "p_between": ("两次读取之间", "between readings"),
    "p_failed": ("失败", "failed"),
    "p_host": ("主机", "host"),
    "p_why": ("原因", "why"),
    "p_readable": ("可读", "readable"),
    "p_known": ("全部", "of"),
}
