"""Where an answer sends us, as a browser would go (Fetch standard, HTTP-redirect fetch)."""

from __future__ import annotations

from sourcewatch.domain.capture import Exchange
from sourcewatch.domain.reading import Fault

from .urls import Address, AddressError, SchemeError, address_of

REDIRECTS = frozenset({301, 302, 303, 307, 308})


def next_address(answer: Exchange) -> Address | Fault | None:
    """The next address, None when the answer is final, or why its Location leads nowhere."""
    if answer.status not in REDIRECTS:
        return None
    locations = {value.strip() for value in answer.all_headers("location")}
    if not any(locations):
        return Fault("redirect_bad_location", "no-location", f"{answer.status} without a Location")
    if len(locations) > 1:
        return Fault("redirect_bad_location", "many-locations", f"several places: {', '.join(sorted(locations))[:200]}")
    location = locations.pop()
    try:
        return address_of(location, base=answer.url)
    except AddressError:
        return Fault("redirect_bad_location", "bad-location", f"no address: {location[:200]!r}")
    except SchemeError as error:
        return Fault("redirect_unsupported_scheme", "other-scheme", f"leads to {error}: {location[:200]!r}")
