"""Notebooks run alone are run as among the tests."""

from tests import kernels

kernels.prepare()


def pytest_unconfigure() -> None:
    kernels.stop()
