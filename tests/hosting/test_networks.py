"""Networks of IPv6, each of one visitor: all addresses in them have a share together."""

from __future__ import annotations

from collections import Counter

import pytest

from attention.hosting.addresses import network, networks
from attention.hosting.admission_queue import AdmissionQueue, Visitor
from attention.hosting.fair_share import FairShare
from attention.hosting.uploads import NoRoom, Uploads
from tests.hosting.asking import to_its_end
from tests.hosting.test_admission import Asked

ELSEWHERE = network("2001:db8:ffff::1")


def house(number: int, site: int = 0) -> str:
    """The address of a visitor; those of one site have the first 56 bits, and all the first 48."""
    return network(f"2001:db8:1:{site:02x}{number:02x}::7")


def admitted(addresses: list[str]) -> int:
    """Number of tabs that get in, one after the other, of a server with 300 places."""
    queue = AdmissionQueue(300, 150)
    inside = sum(
        queue.connect(Visitor(address, str(number)), 0.0)
        for number, address in enumerate(addresses)
    )
    assert queue.connect(Visitor(ELSEWHERE, ""), 0.0)
    assert queue.is_crowded(addresses[0]) == (inside < len(addresses))
    return inside


def test_an_address_counts_in_its_networks() -> None:
    assert networks("192.0.2.1") == (("192.0.2.1", 0.5),)
    assert networks(network("2001:db8:1:2034::7")) == (
        ("2001:db8:1:2034::/64", 0.5),
        ("2001:db8:1:2000::/56", 0.6),
        ("2001:db8:1::/48", 0.75),
    )


@pytest.mark.parametrize(
    ("addresses", "inside"),
    [
        (["192.0.2.1"] * 100, 100),  # a class behind one address
        (["192.0.2.1"] * 310, 150),
        ([house(1)] * 310, 150),
        ([house(number % 256) for number in range(310)], 180),
        ([house(number % 256, number // 100) for number in range(310)], 225),
    ],
)
def test_no_network_has_all_places(addresses: list[str], inside: int) -> None:
    assert admitted(addresses) == inside


def test_who_waits_for_their_network_is_passed_by_others() -> None:
    queue = AdmissionQueue(12, 4)
    for number in range(12):
        queue.connect(Visitor(house(number, number), ""), 0.0)
    assert queue.free == 6  # of 12, half as many again as the 4 of one address
    waits = Visitor(house(99, 99), "waits")
    assert queue.position(waits, 0.0) == 1
    assert queue.position(Visitor(ELSEWHERE, "other"), 0.0) == 0
    assert queue.position(Visitor(house(98, 98), "next"), 0.0) == 2


@to_its_end
async def test_a_network_asks_half_as_often_again_as_one_address() -> None:
    asked = Asked(requests=1)
    statuses = [(await asked.get(address=f"2001:db8:1:{n:x}00::1")).status for n in range(25)]
    assert Counter(statuses) == {200: 15, 429: 10}
    assert (await asked.get(address="2001:db8:2::1")).status == 200


def test_a_network_opens_no_files_beyond_its_share() -> None:
    uploads = Uploads(100, dict)
    held = [uploads.take(f"visit {n}", 1 << 20, house(n, n)) for n in range(75)]
    with pytest.raises(NoRoom):
        uploads.take("next", 1 << 20, house(75, 75))
    assert len(held) == 75
    assert uploads.take("other", 10 << 20, ELSEWHERE)


def test_the_processor_is_shared_by_networks() -> None:
    share = FairShare()
    for number in range(30):
        share.charge(house(number, number), 0.1, 0.0)
    fresh = house(99, 99)
    assert share.used_by(fresh, 0.0) == pytest.approx(3.0 / 1.5)
    assert share.used_by(ELSEWHERE, 0.0) == 0.0
