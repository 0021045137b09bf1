"""Limits of addresses and networks: below one passes, above it is refused, others go on."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import pytest

from attention.hosting import metrics
from attention.hosting.addresses import network, networks
from attention.hosting.fair_share import FairShare
from attention.hosting.uploads import UploadLimit, Uploads
from tests.hosting.asking import ask, inner, to_its_end
from tests.hosting.test_admission import Asked

MOST = 10  # of one address, by each of the limits below
ELSEWHERE = "2001:db8:ffff::1"


def house(number: int) -> str:
    """The address of a visitor; all with the same first 48 bits."""
    return f"2001:db8:1:{number << 8:x}::7"


class Limit:
    """A limit that is met again and again; why: its name in the metrics."""

    why: str

    def __init__(self, there: AsyncExitStack) -> None:
        self.there, self.count = there, 0


class Requests(Limit):
    why = "requests"

    def __init__(self, there: AsyncExitStack) -> None:
        self.asked = Asked(requests=1)

    async def take(self, address: str) -> bool:
        answer = await self.asked.get(address=address)
        waits = answer.status == 429 and "Please wait a moment" in answer.text
        assert answer.status == 200 or (waits and answer.headers["retry-after"] == "2")
        return not waits


class Places(Limit):
    why = "sessions"

    def __init__(self, there: AsyncExitStack) -> None:
        super().__init__(there)
        self.asked = Asked(sessions=2 * MOST, address=50)

    async def take(self, address: str) -> bool:
        self.count += 1
        visit = self.asked.visit(f"name{self.count}", address)
        inside = (await self.there.enter_async_context(visit)).has_a_place
        if not inside:
            text = (await self.asked.get(address=address)).text
            assert "All places for your network are taken" in text
        return inside


class Files(Limit):
    why = "uploads"

    def __init__(self, there: AsyncExitStack) -> None:
        super().__init__(there)
        self.held: dict[str, int] = {}
        self.app = UploadLimit(inner, Uploads(2 * MOST, lambda: self.held), bool)

    async def take(self, address: str) -> bool:
        self.count += 1
        visit, nbytes = f"visit{self.count}", (1 << 20) - 1000
        sent: dict[str, Any] = {"content_type": "multipart/form-data", "content_length": nbytes}
        path = f"/_stcore/upload_file/{visit}/file"
        fits = (await ask(self.app, path, method="PUT", address=address, **sent)).status == 200
        self.held |= {visit: nbytes} if fits else {}
        return fits


@pytest.mark.usefixtures("_no_time_goes_by")
@pytest.mark.parametrize("limit", [Requests, Places, Files])
@pytest.mark.parametrize(
    ("address", "most"),
    [
        (lambda n: "192.0.2.1", MOST),
        (lambda n: f"2001:db8:1:2::{n:x}", MOST),
        (lambda n: f"2001:db8:1:2{n:02x}::7", 1.2 * MOST),
        (house, 1.5 * MOST),
    ],
    ids=["IPv4", "64", "56", "48"],
)
@to_its_end
async def test_a_network_has_its_share_and_leaves_others_theirs(limit, address, most):
    def refused() -> float:
        labels = {"why": limit.why}
        return metrics.REGISTRY.get_sample_value("attention_refused_total", labels) or 0.0

    before = refused()
    async with AsyncExitStack() as there:
        limited = limit(there)
        passed = [await limited.take(address(number)) for number in range(18)]
        assert passed == [number < most for number in range(18)]
        assert refused() - before == 18 - most
        assert await limited.take(ELSEWHERE)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::7", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::7", "2001:db8:1:3::7", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("a name", "another", False),
    ],
)
def test_all_in_a_house_are_one_address(one, other, same):
    assert (network(one) == network(other)) == same


def test_an_address_counts_in_its_networks():
    assert networks("192.0.2.1") == (("192.0.2.1", 0.5),)
    assert networks(network("2001:db8:1:2034::7")) == (
        ("2001:db8:1:2034::/64", 0.5),
        ("2001:db8:1:2000::/56", 0.6),
        ("2001:db8:1::/48", 0.75),
    )


def test_the_processor_is_shared_by_networks():
    share = FairShare()
    for number in range(30):
        share.charge(network(house(number)), 0.1, 0.0)
    assert share.used_by(network(house(99)), 0.0) == pytest.approx(3.0 / 1.5)
    assert share.used_by(network(ELSEWHERE), 0.0) == 0.0
