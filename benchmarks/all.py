"""Every figure in one table: runs the other scripts one after the other and collects what they measured.

    python benchmarks/all.py                 # full size: some hours on a quiet machine, up to 20 GB of memory
    python benchmarks/all.py --quick         # small sizes: minutes; shows that everything runs, not how fast it is
    python benchmarks/all.py --only pagerank "bulk load"
    python benchmarks/all.py --data DIR --entities DIR --dsn DSN

Writes ``all.md`` (one table, then what each script printed) and ``all.json`` into ``--out`` (benchmarks/results; with
--quick nothing unless it is given). Without --dsn a PostgreSQL with AGE is started from Debian's packages and stopped
again. --data and --entities hold the question sets and the annotated texts, as question_sets.py and entities.py say.
Exits with 1 if a script failed, or in full size a figure is missing or falls short of what it was to reach.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from machine import describe
from suite import RUNS, Figure, Run

HERE = Path(__file__).parent
POSTGRES = HERE.parent / "scripts" / "postgres-age.sh"


@dataclass(frozen=True)
class Found:
    """A figure; ``value`` None: not in what was printed. ``reached`` None: nothing was to be reached."""

    what: str
    value: float | None
    reach: str
    reached: bool | None


@dataclass
class Result:
    name: str
    command: str
    seconds: float = 0.0
    problem: str = ""
    figures: list[Found] = field(default_factory=list)
    output: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=[run.name for run in RUNS], metavar="NAME")
    parser.add_argument("--data", help="folder of question sets")
    parser.add_argument("--entities", help="folder of annotated texts")
    parser.add_argument("--dsn", help="PostgreSQL with AGE, as a superuser")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    out = given.out if given.quick or given.out else HERE / "results"
    wanted = [run for run in RUNS if not given.only or run.name in given.only]
    places = {"DATA": given.data, "ENTITIES": given.entities, "DSN": given.dsn}
    started, results = datetime.now(UTC), list[Result]()
    machine = describe()
    for run in wanted:
        print(f"{run.name} ...", file=sys.stderr, flush=True)
        results.append(one(run, places, quick=given.quick))
        if out is not None:
            save(out, results, machine, started, quick=given.quick)
    print(markdown(results, machine, started, quick=given.quick))
    sys.exit(any(failed(result, quick=given.quick) for result in results))


def one(run: Run, places: dict[str, str | None], *, quick: bool) -> Result:
    """Runs a script with what it needs, and reads its figures."""
    arguments = shlex.split(run.quick if quick else run.full)
    with postgres() if "DSN" in arguments and not places["DSN"] else given(places["DSN"]) as dsn:
        filled = [{**places, "DSN": dsn}.get(argument, argument) for argument in arguments]
        shown = " ".join(["python", f"benchmarks/{run.script}", *arguments])
        if None in filled:
            return Result(run.name, shown, problem=f"not run: give --{arguments[filled.index(None)].lower()}")
        command = [sys.executable, str(HERE / run.script), *(word for word in filled if word is not None)]
        start = time.monotonic()
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=HERE.parent,
            env={"OMP_NUM_THREADS": "1", **os.environ},
        )
        seconds = time.monotonic() - start
    problem = f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}" if done.returncode else ""
    figures = [read(figure, run.sizes[quick], done.stdout) for figure in run.figures] if not problem else []
    return Result(run.name, shown, seconds, problem, figures, done.stdout.strip())


def read(figure: Figure, size: str, output: str) -> Found:
    match = re.search(figure.pattern.replace("{n}", size), output, re.MULTILINE | re.DOTALL)
    if match is None:
        return Found(figure.what, None, figure.reach, None)
    value = float(match[1].replace(",", ""))
    if not figure.reach:
        return Found(figure.what, value, "", None)
    sign, bound = figure.reach.split()
    return Found(figure.what, value, figure.reach, value >= float(bound) if sign == ">=" else value <= float(bound))


def failed(result: Result, *, quick: bool) -> bool:
    short = any(found.value is None or found.reached is False for found in result.figures)
    return result.problem.startswith("failed") or (short and not quick)


@contextmanager
def given(dsn: str | None) -> Generator[str | None]:
    yield dsn


@contextmanager
def postgres() -> Generator[str]:
    """A server of its own; /var/tmp, because a server that must not be root may not enter a private folder."""
    with tempfile.TemporaryDirectory(prefix="graphport-bench-", dir="/var/tmp") as home:
        Path(home).chmod(0o755)
        where = {**os.environ, "GRAPHPORT_PG_HOME": f"{home}/server", "GRAPHPORT_PG_PORT": "5497"}
        started = subprocess.run([POSTGRES, "start"], env=where, check=True, stdout=subprocess.PIPE, text=True)
        try:
            yield started.stdout.strip().splitlines()[-1]
        finally:
            subprocess.run([POSTGRES, "stop"], env=where, check=True, stdout=subprocess.DEVNULL)


def save(out: Path, results: Sequence[Result], machine: dict[str, str], started: datetime, *, quick: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    printed = "\n".join(f"\n## {result.name}\n\n```\n{result.output}\n```" for result in results if result.output)
    (out / "all.md").write_text(markdown(results, machine, started, quick=quick) + printed + "\n")
    runs = [{key: value for key, value in asdict(result).items() if key != "output"} for result in results]
    told = {"started": started.isoformat(timespec="seconds"), "quick": quick, "machine": machine, "runs": runs}
    (out / "all.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def markdown(results: Sequence[Result], machine: dict[str, str], started: datetime, *, quick: bool) -> str:
    size = ", small sizes: they show that everything runs, not how fast it is" if quick else ""
    lines = [f"# Figures of {started:%Y-%m-%d %H:%M} UTC{size}\n"]
    lines += [f"- {key}: {value}" for key, value in machine.items()]
    lines += ["", "| | figure | value | to reach | |", "|---|---|---|---|---|"]
    for result in results:
        lines.append(f"| **{result.name}** | `{result.command}` | {result.seconds:.0f} s | | {result.problem} |")
        lines += [row(found, quick=quick) for found in result.figures]
    return "\n".join(lines) + "\n"


def row(found: Found, *, quick: bool) -> str:
    value = "not in this run" if found.value is None else f"{found.value:,.10g}"
    verdict = {True: "reached", False: "**short**", None: ""}[None if quick else found.reached]
    return f"| | {found.what} | {value} | {found.reach} | {verdict} |"


if __name__ == "__main__":
    main()
