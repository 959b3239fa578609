"""What links point at, apart from what a server writes anew into them at every visit."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Parameters that name the visit, by the names that servers and campaigns give them: PHPSESSID, jsessionid, HN's `auth`,
# signatures and ends of signed addresses (S3's x-amz-…), marks of campaigns, clocks against caches.
_OF_THE_VISIT = re.compile(
    r"(?:\w*sess(?:ion)?_?id|auth|\w*token|\w*nonce|_?csrf\w*|hmac|sig(?:nature)?|expires|x-[a-z]{2,8}-[\w-]+"
    r"|utm_\w+|gclid|fbclid|spm|cb|rnd|_)",
    re.IGNORECASE,
)
# A long value without words: a UUID, 12 digits, 16 letters and digits mixed. "how-to-serve-v3" has words.
_RANDOM = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<!\w)\d{12,40}(?!\w)"
    r"|(?<![A-Za-z\d])(?=[A-Za-z]*\d[A-Za-z]*\d)(?=\d*[A-Za-z]\d*[A-Za-z])[A-Za-z\d]{16,}",
    re.IGNORECASE,
)
# What a parameter of this name says is the page itself, however random it looks: a video, a shared file.
_OF_THE_PAGE = {"id", "v"}
_LONGEST = 2_000
_PARAMETERS = re.compile(r"[?;&]([^=?;&#/]{1,80})=([^?;&#]{0,1000})")


def differ(old: Iterable[str], new: Iterable[str]) -> bool:
    """Whether one side has an address that leads where none of the other side does; order and repetition are nothing.

    Only addresses that one side alone has are read: nearly all stand on both.
    """
    ours, theirs = frozenset(old), frozenset(new)
    return {target(url) for url in ours - theirs} != {target(url) for url in theirs - ours}


def target(url: str) -> str:
    """The address with the values of its per-visit parameters left out and the others in order of their names.

    A path is never changed: there a long random name is a document's.
    """
    whole, mark, fragment = url[:_LONGEST].partition("#")
    pairs = sorted((m[1], "" if _passing(m[1], m[2]) else m[2]) for m in _PARAMETERS.finditer(whole))
    return "".join((_PARAMETERS.sub("", whole), *(f"&{name}={value}" for name, value in pairs), mark, fragment))


def _passing(name: str, value: str) -> bool:
    if _OF_THE_VISIT.fullmatch(name):
        return True
    return name.lower() not in _OF_THE_PAGE and bool(_RANDOM.search(value))
