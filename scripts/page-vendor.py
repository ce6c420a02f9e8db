#!/usr/bin/env python3
"""Fetch the page's graph library from the npm registry, as pinned here, into plugins/graphport_serve/page/vendor.

Run it to check or renew what is committed: ``scripts/page-vendor.py [--check]``. Needs npm.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "plugins" / "graphport_serve" / "page" / "vendor"

PACKAGES = {
    "sigma@3.0.3": (
        "ff467677a066c06ef81a2b66cde421a26cd629ef5321e4c08742b69c8d32a9bb",
        {"dist/sigma.min.js": "sigma.min.js", "LICENSE.txt": "sigma.LICENSE.txt"},
    ),
    "graphology@0.26.0": (
        "3c0cc63556e32b9d00ea953dce29790a5e49fc448f19247e25540156caef6b98",
        {"dist/graphology.umd.min.js": "graphology.umd.min.js", "LICENSE.txt": "graphology.LICENSE.txt"},
    ),
    "graphology-layout-forceatlas2@0.10.1": (
        "62ea434a9a478807390062fbd7ded2647794d04a71bd3708cff85b9a4ea53c7e",
        {"iterate.js": "forceatlas2.js", "LICENSE.txt": "forceatlas2.LICENSE.txt"},
    ),
}
WRAPPED = {"forceatlas2.js"}
"""CommonJS files that are wrapped as ES modules, so that a worker can import them without a bundler."""


def fetch(package: str, sha256: str, files: dict[str, str], folder: Path) -> dict[str, bytes]:
    """The wanted files of a package by the name they get; exits if the archive is not the pinned one."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
    )
    archive = folder / packed.stdout.split()[-1]
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        sys.exit(f"{package}: the archive has sha256 {found}, pinned is {sha256}")
    with tarfile.open(archive) as tar:
        return {name: _read(tar, f"package/{path}", name, package) for path, name in files.items()}


def _read(tar: tarfile.TarFile, path: str, name: str, package: str) -> bytes:
    member = tar.extractfile(path)
    if member is None:
        sys.exit(f"{package} has no {path}")
    content = member.read().replace(b"\r\n", b"\n")
    if name in WRAPPED:
        head = f"// {package}, {path} of the npm package, as an ES module\nconst module = {{ exports: {{}} }};\n"
        content = head.encode() + content + b"\nexport default module.exports;\n"
    return content


def main() -> None:
    """Write the files, or with ``--check`` compare them."""
    check = sys.argv[1:] == ["--check"]
    VENDOR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for package, (sha256, files) in PACKAGES.items():
            for name, content in fetch(package, sha256, files, Path(folder)).items():
                target = VENDOR / name
                if check and (not target.exists() or target.read_bytes() != content):
                    sys.exit(f"{target} is not what {package} has; run scripts/page-vendor.py")
                target.write_bytes(content)
    print("vendor files are as pinned")


if __name__ == "__main__":
    main()
