"""The sample and a comparison of its models."""

import pytest

import recnb


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def compared(sample):
    return recnb.compare(sample.recommendations, sample.test, baseline="popular")
