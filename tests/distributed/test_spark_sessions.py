"""Sessions that need a process of their own: Connect, and pandas-on-Spark beside an older pandas."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.spark


def agreed(which, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark_sessions", which],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=240,
    )  # fmt: skip
    assert done.stdout.endswith("agreed\n"), done.stdout[-2000:] + done.stderr[-6000:]


@pytest.fixture(autouse=True)
def there():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("pyspark")


def test_connect_sessions_give_the_numbers_of_pandas():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("grpc")
    agreed("connect")


def test_pandas_on_spark_has_the_accessor_where_it_imports(tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    done = subprocess.run([*pip, "pandas>=3.0,<3.1"], capture_output=True, text=True, check=False)
    if done.returncode and os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.skip("pandas 3.0 cannot be installed: " + done.stderr[-200:])
    path = os.pathsep.join([str(tmp_path), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    agreed("pandas", PYTHONPATH=path)


def test_without_it_spark_frames_are_evaluated_all_the_same():
    program = (
        "import sys; sys.modules['pyspark.pandas'] = None; import recnb.spark; print(recnb.spark.evaluate.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "recnb.distributed.spark\n", done.stderr
