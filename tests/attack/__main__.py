"""`python -m tests.attack --minutes 60 --seed 7`: the attack by hand."""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.attack.run import attack


def main() -> int:
    os.environ["RECNB_NO_PROGRESS"] = "1"
    words = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    words.add_argument("--minutes", type=float, default=3)
    words.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")))
    words.add_argument("--only", type=int, help="the number of one data set under the seed")
    words.add_argument("--most", type=int, default=20, help="stop after so many kinds of findings")
    asked = words.parse_args()
    print(f"seed {asked.seed}", flush=True)
    run = attack(
        asked.seed, asked.minutes * 60, only=asked.only, most=asked.most, say=lambda one: print(one, flush=True)
    )
    print(run)
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
