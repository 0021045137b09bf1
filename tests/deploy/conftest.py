"""The app as it is deployed for many: nginx before three processes, and a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deploy.replicas import cookies_for, find_nginx, in_front_of
from tests.serving import started


@dataclass(frozen=True)
class Deployed:
    """The address of nginx, its folder, the processes by port, and a cookie that leads to each."""

    address: str
    folder: Path
    processes: dict[int, subprocess.Popen[bytes]]
    cookies: dict[int, str]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Three processes behind nginx."""
    if find_nginx() is None:
        pytest.skip("needs nginx")
    folder = tmp_path_factory.mktemp("nginx")
    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        apps = [started("streamlit_app.py", subprocess.DEVNULL) for _ in range(3)]
        processes = dict(pool.map(stack.enter_context, apps))
        address = stack.enter_context(in_front_of([*processes], folder))
        yield Deployed(address, folder, processes, cookies_for(address, folder, [*processes]))


@pytest.fixture
def server(deployed: Deployed) -> str:
    """Address that `open_page` opens unless told otherwise."""
    return deployed.address
