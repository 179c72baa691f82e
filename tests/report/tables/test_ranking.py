"""Best and second best against a plain sort."""

from hypothesis import given
from hypothesis import strategies as st

from gradsurge.report.tables import Cell, Column
from gradsurge.report.tables.ranking import places

# Few digits and a narrow range, so that ties are common.
VALUES = st.lists(
    st.none() | st.floats(-0.04, 0.04).map(lambda x: round(x, 4)), min_size=0, max_size=8
)


def cells(values):
    return {f"row{k}": Cell(value) for k, value in enumerate(values)}


@given(VALUES, st.sampled_from(["lower", "higher"]), st.integers(0, 3))
def test_places_are_those_of_a_plain_sort(values, better, digits):
    found = places(Column("c", "C", better, digits), cells(values))
    shown = {f"row{k}": float(f"{v:.{digits}f}") for k, v in enumerate(values) if v is not None}
    ranked = []  # distinct values, best first
    for value in sorted(shown.values(), reverse=better == "higher"):
        if value not in ranked:
            ranked.append(value)
    expected = {}
    if len(shown) >= 2:
        expected |= {key: 1 for key, value in shown.items() if value == ranked[0]}
    if len(shown) >= 3 and len(ranked) >= 2:
        expected |= {key: 2 for key, value in shown.items() if value == ranked[1]}
    assert found == expected


@given(VALUES)
def test_what_has_no_better_way_has_no_places(values):
    assert places(Column("c", "C", None, 2), cells(values)) == {}


@given(VALUES.filter(lambda values: sum(v is not None for v in values) >= 2))
def test_lower_is_higher_turned_round(values):
    turned = [None if value is None else -value for value in values]
    lower = places(Column("c", "C", "lower", 3), cells(values))
    assert lower == places(Column("c", "C", "higher", 3), cells(turned))
    assert 1 in lower.values()


def test_one_row_has_won_nothing_and_of_two_only_one_is_marked():
    column = Column("c", "C", "lower", 2)
    assert places(column, {"a": Cell(0.1), "b": Cell(None)}) == {}
    assert places(column, {"a": Cell(0.1), "b": Cell(0.2)}) == {"a": 1}


def test_ties_share_both_places_as_in_the_paper_s_table_3():
    nll = [0.0565, 0.0541, 0.0535, 0.0528, 0.0528, 0.0529, 0.0531, 0.0538, 0.0533, 0.0529]
    found = places(Column("nll", "NLL", "lower", 4), cells(nll))
    assert found == {"row3": 1, "row4": 1, "row5": 2, "row9": 2}
