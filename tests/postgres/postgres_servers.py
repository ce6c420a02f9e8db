"""PostgreSQL servers for tests: one a pytest session and version, shared by its workers.

The newest AGE comes from the first of: ``GRAPHPORT_PG_DSN``; Docker through testcontainers, where an engine
answers (image ``apache/age``, or ``GRAPHPORT_AGE_IMAGE``); ``scripts/postgres-age.sh``. AGE 1.5, Debian
stable's, comes from ``GRAPHPORT_PG_DSN_OLD`` or the script.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

SCRIPT = Path(__file__).parents[2] / "scripts" / "postgres-age.sh"
TEMPLATE = "gp_test_template"
"""The database that those of the tests are copies of."""
IMAGE = "apache/age"
COMMAND = (
    "postgres -c session_preload_libraries=age -c max_connections=200 -c jit=off"
    " -c fsync=off -c full_page_writes=off"  # each test has a database of its own; making one syncs a lot
    " -c autovacuum=off"  # and lives a second: nothing to tidy
)


WATCH = 'while [ -d "/proc/$1" ]; do sleep 1; done; "$2" stop; rm -rf "$3"'
"""Ends a server whose test session was killed and cannot do so itself."""


class NoServer(Exception):
    """This way of getting a server is not open here; why."""


@dataclass(frozen=True)
class Server:
    """A running server: its superuser's dsn, and what stops it."""

    dsn: str
    stop: Callable[[], None] = field(compare=False, default=lambda: None)


@dataclass(frozen=True)
class ScriptServer:
    """A server of ``scripts/postgres-age.sh`` in a folder of its own."""

    suite: str
    folder: Path
    port: int

    def environment(self) -> dict[str, str]:
        return os.environ | {
            "GRAPHPORT_PG_SUITE": self.suite,
            "GRAPHPORT_PG_HOME": str(self.folder),
            "GRAPHPORT_PG_PORT": str(self.port),
        }

    def run(self, command: str) -> str:
        done = subprocess.run(
            [str(SCRIPT), command],
            env=self.environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise NoServer(f"scripts/postgres-age.sh {command} failed: {done.stderr.strip()[-500:]}")
        return done.stdout.strip()

    def postmaster(self) -> int:
        """Process id of the server itself, which a test may kill."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def running(self) -> bool:
        try:
            self.run("status")
        except NoServer:
            return False
        return True

    def remove(self) -> None:
        with suppress(NoServer):
            self.run("stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_newest(folder: Path) -> Server:
    """The server with the newest AGE, from the first way that is open."""
    given = os.environ.get("GRAPHPORT_PG_DSN")
    if given:
        return _given(given)
    try:
        return _from_docker()
    except NoServer:
        if "GRAPHPORT_AGE_IMAGE" in os.environ:  # Docker was asked for by name
            raise
        return start_from_script("forky", folder)


def start_old(folder: Path) -> Server:
    given = os.environ.get("GRAPHPORT_PG_DSN_OLD")
    return _given(given) if given else start_from_script("trixie", folder)


def _given(dsn: str) -> Server:
    """Somebody else's server, which goes on running without our template."""

    def clean() -> None:
        with connect(dsn) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {TEMPLATE} WITH (FORCE)".encode())

    return Server(dsn, clean)


def start_from_script(suite: str, folder: Path) -> Server:
    server = ScriptServer(suite, folder, free_port())
    dsn = server.run("start")
    with connect(dsn) as admin:
        admin.execute("ALTER SYSTEM SET autovacuum = off")  # as in COMMAND
        admin.execute("SELECT pg_reload_conf()")
    watcher = subprocess.Popen(
        ["bash", "-c", WATCH, "watch", str(os.getpid()), str(SCRIPT), str(folder)],
        env=server.environment(),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def stop() -> None:
        server.remove()
        watcher.terminate()
        watcher.wait()

    return Server(dsn, stop)


def _from_docker() -> Server:
    if "DOCKER_HOST" not in os.environ and not Path("/var/run/docker.sock").exists():
        raise NoServer("no Docker engine answers")
    try:
        import docker  # type: ignore[import-untyped]  # it brings no types
        from docker.errors import DockerException  # type: ignore[import-untyped]  # as above
        from testcontainers.core.container import DockerContainer
    except ImportError as error:
        raise NoServer(f"{error}; pip install testcontainers") from error
    try:
        docker.from_env(timeout=5).ping()
    except (DockerException, OSError) as error:
        raise NoServer(f"no Docker engine answers: {error}") from error
    image = os.environ.get("GRAPHPORT_AGE_IMAGE", IMAGE)
    container = DockerContainer(image).with_command(COMMAND).with_exposed_ports(5432)
    container = container.with_env("POSTGRES_PASSWORD", "in a test")
    try:
        container.start()
    except DockerException as error:
        warnings.warn(f"Docker answers, but has no {image}: {error}", stacklevel=2)
        raise NoServer(f"Docker has no image {image}") from error
    host, port = container.get_container_host_ip(), container.get_exposed_port(5432)
    dsn = f"host={host} port={port} user=postgres password='in a test' dbname=postgres"
    try:
        _wait_for(dsn)
    except BaseException:
        container.stop()
        raise
    return Server(dsn, container.stop)


def connect(dsn: str) -> psycopg.Connection[TupleRow]:
    """A connection in autocommit mode, tried again when the server refuses one, as a busy PostgreSQL does now and then.

    Seen: "FATAL: failed to re-find shared lock object", twice in a thousand databases made and dropped side by side.
    """
    for wait in (0.1, 0.5, 2):
        try:
            return psycopg.connect(dsn, autocommit=True)
        except psycopg.OperationalError as error:
            print(f"tried again, the server refused a connection: {error}", file=sys.stderr)
            time.sleep(wait)
    return psycopg.connect(dsn, autocommit=True)


def _wait_for(dsn: str) -> None:
    for patience in range(120, -1, -1):
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            if not patience:
                raise
            time.sleep(0.5)
        else:
            return


@contextmanager
def shared(state: Path, folder: Path, start: Callable[[Path], Server]) -> Iterator[str]:
    """The dsn of a server that all workers of a session use; who started it stops it when the others have ended.

    ``state`` is a folder that the workers share and no other session does, ``folder`` the server's.
    """
    users = state / "users"
    users.mkdir(parents=True, exist_ok=True)
    mine, kept = users / str(os.getpid()), state / "dsn"
    server: Server | None = None
    with _locked(state):
        if not kept.exists():
            server = start(folder)
            kept.write_text(server.dsn)
        dsn = kept.read_text()
        mine.touch()
    try:
        yield dsn
    finally:
        while server is not None and not _stopped(state, server, users, mine):
            time.sleep(0.5)
        if server is None:
            mine.unlink()


def _stopped(state: Path, server: Server, users: Path, mine: Path) -> bool:
    with _locked(state):
        if any(_alive(int(user.name)) for user in users.iterdir() if user != mine):
            return False
        server.stop()
        (state / "dsn").unlink()
        mine.unlink()
        return True


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
