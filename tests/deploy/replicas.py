"""nginx before several processes of the app, with the configuration that is deployed."""

from __future__ import annotations

import contextlib
import getpass
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.serving import ROOT, free_port

DEPLOY = ROOT / "deploy"
# Around the configuration, as the packages of nginx have it. The log tells who answered whom.
AROUND = """
user {user};
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
    include /etc/nginx/mime.types;
    log_format who "$cookie_replica $uri $upstream_addr";
    access_log {folder}/access.log who;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    include {folder}/app.conf;
}}
"""


def find_nginx() -> str | None:
    """The path of nginx, which may stand where only root looks, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextlib.contextmanager
def in_front_of(ports: Sequence[int], folder: Path, proxy: str = "") -> Iterator[str]:
    """nginx before whatever is at those ports, as deployed but for addresses and folders.

    proxy: the address of one before nginx, as an owner names it.
    """
    port = free_port()
    line = "    server {} max_fails=3 fail_timeout=10s;\n"
    conf, found = re.subn(
        rf"({line.format('app[0-9]:8501')})+",
        "".join(line.format(f"127.0.0.1:{each}") for each in ports),
        (DEPLOY / "nginx.conf").read_text(),
    )
    assert found == 1
    if proxy:
        conf, found = re.subn(
            r"# (set_real_ip_from) .*;\n# (real_ip_header .*\n)# (real_ip_recursive .*\n)",
            rf"\1 {proxy};\n\2\3",
            conf,
        )
        assert found == 1
    conf = conf.replace("listen 8080", f"listen 127.0.0.1:{port}")
    conf = conf.replace("/usr/share/nginx/html", str(DEPLOY))
    conf = conf.replace("/tmp/nginx-cache", f"{folder}/cache")
    (folder / "app.conf").write_text(conf)
    (folder / "nginx.conf").write_text(AROUND.format(user=getpass.getuser(), folder=folder))
    command = [str(find_nginx()), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    nginx = subprocess.Popen(command)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_it_answers(address, nginx)
        yield address
    finally:
        nginx.terminate()
        nginx.wait(timeout=20)


def _wait_until_it_answers(address: str, nginx: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if nginx.poll() is not None:
            raise RuntimeError(f"nginx stopped with exit code {nginx.returncode}")
        try:
            urllib.request.urlopen(f"{address}/metrics", timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("nginx did not answer within a minute")


def led_to(folder: Path, cookie: str) -> list[int]:
    """The ports of the processes that answered a visitor, by its cookie, in order."""
    give_up = time.monotonic() + 30  # what is answered is logged a little later
    while time.monotonic() < give_up:
        lines = [line.split(" ", 2) for line in (folder / "access.log").read_text().splitlines()]
        ends = [line[2].rsplit(":", 1)[1] for line in lines if line[0] == cookie and ":" in line[2]]
        if ends:
            return [int(end) for end in ends]
        time.sleep(0.05)
    raise RuntimeError(f"nobody answered the visitor {cookie}")


def cookies_for(address: str, folder: Path, ports: Sequence[int]) -> dict[int, str]:
    """For each process a cookie that leads to it."""
    found: dict[int, str] = {}
    for number in range(1000):
        if len(found) == len(ports):
            break
        cookie = f"visitor{number}"
        request = urllib.request.Request(f"{address}/_stcore/health")
        request.add_header("Cookie", f"replica={cookie}")
        urllib.request.urlopen(request, timeout=30).close()
        found.setdefault(led_to(folder, cookie)[-1], cookie)
    return found


if __name__ == "__main__":
    sys.exit(0 if find_nginx() else "no nginx found: install Debian's nginx-light")
