"""Build the site and check it: `python -m tests.tools.site [folder]`.

It needs the extra `recnb[site]`. The pages are in the folder `html` below the one given,
by default `build/site`. A warning, a link that leads nowhere and a page that would ask
another computer for anything are errors.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.tools.notebooks import ROOT
from tests.tools.site.links import problems
from tests.tools.site.pages import write_sources
from tests.tools.site.reference import write_reference

SITE = Path(__file__).parent


def build(folder: Path) -> int:
    """Build the site in a folder, from nothing, and return Sphinx's exit code."""
    from sphinx.cmd.build import build_main

    for name in ("sources", "doctrees", "html"):  # nothing else that is there
        shutil.rmtree(folder / name, ignore_errors=True)
    sources = folder / "sources"
    write_sources(sources)
    write_reference(sources / "reference")
    options = ["--builder", "html", "--quiet", "--jobs", "auto"]
    warnings_are_errors = ["--fail-on-warning"]
    places = ["--conf-dir", SITE, "--doctree-dir", folder / "doctrees"]
    arguments = [*options, *warnings_are_errors, *places, sources, folder / "html"]
    return build_main([str(argument) for argument in arguments])


def main() -> None:
    """Build the site and check its links."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.site", description=main.__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/site")
    folder = parser.parse_args().folder.resolve()
    if build(folder) != 0:
        sys.exit("The site has warnings: they are listed above.")
    if lines := problems(folder / "html"):
        sys.exit("\n".join(lines))
    print(folder / "html/index.html")


if __name__ == "__main__":
    main()
