import pytest

from gradsurge.report.evaluation.page import render
from tests.report.evaluation.example import example, with_problems
from tests.report.evaluation.reading import Reading

SMALL = {"cases": 7, "shape": (8, 24, 24)}


@pytest.fixture(scope="session")
def one_structure():
    return with_problems(example(**SMALL))


@pytest.fixture(scope="session")
def one_structure_page(one_structure):
    return Reading(render(one_structure))


@pytest.fixture(scope="session")
def two_structures():
    return example(names=("kidney", "tumour"), **SMALL)


@pytest.fixture(scope="session")
def two_structures_page(two_structures):
    return Reading(render(two_structures))
