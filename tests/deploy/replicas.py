"""nginx before several processes of the app, with the configuration that is deployed."""

from __future__ import annotations

import contextlib
import getpass
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.serving import ROOT, free_port, wait_until_healthy

DEPLOY = ROOT / "deploy"
# Around the configuration, as the package of nginx has it. What is logged tells who answered whom.
AROUND = """
user {user};
daemon off;
worker_processes 1;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
events {{}}
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
def in_front_of(ports: Sequence[int], folder: Path) -> Iterator[str]:
    """nginx before the processes at those ports, as deployed but for the addresses."""
    port = free_port()
    servers = "".join(f"server 127.0.0.1:{each} max_fails=3 fail_timeout=10s;\n" for each in ports)
    conf = (DEPLOY / "nginx.conf").read_text()
    conf = re.sub(r"( +server app\d:8501 .*\n)+", servers, conf)
    conf = conf.replace("listen 8080", f"listen 127.0.0.1:{port}")
    conf = conf.replace("/usr/share/nginx/html", str(DEPLOY)).replace("/tmp/", f"{folder}/")
    (folder / "app.conf").write_text(conf)
    (folder / "nginx.conf").write_text(AROUND.format(user=getpass.getuser(), folder=folder))
    command = [find_nginx() or "nginx", "-e", str(folder / "error.log"), "-c"]
    nginx = subprocess.Popen([*command, str(folder / "nginx.conf")])
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}", nginx)
        yield f"http://127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait(timeout=20)


def replica_of(page: Any, folder: Path) -> int:
    """The port of the process that a page was led to when it last asked for one."""
    (cookie,) = (each["value"] for each in page.context.cookies() if each["name"] == "replica")
    lines = [line.split() for line in (folder / "access.log").read_text().splitlines()]
    led = [line[-1] for line in lines if line[0] == cookie and line[1].endswith("/health")]
    return int(led[-1].rsplit(":", 1)[1])
