"""When surgery sets in."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.runs import SurgerySchedule

fractions = st.floats(0, 0.99)


@given(fractions, st.integers(1, 5000))
def test_a_switch_happens_at_the_first_step_at_or_after_the_fraction(start, steps):
    schedule = SurgerySchedule(start, start)
    blends = [schedule.blend(step, steps) for step in range(steps)]
    first = math.ceil(round(start * steps, 9))
    assert blends == [0.0] * first + [1.0] * (steps - first)


@given(fractions, fractions, st.integers(2, 300))
def test_a_ramp_rises_linearly_and_stays(one, other, steps):
    start, full = sorted((one, other))
    schedule = SurgerySchedule(start, full)
    blends = [schedule.blend(step, steps) for step in range(steps + 1)]
    assert blends == sorted(blends)
    assert blends[-1] == 1.0
    for step, blend in enumerate(blends):
        if start * steps + 1e-6 < step < full * steps - 1e-6:
            assert blend == pytest.approx((step / steps - start) / (full - start))


def test_without_a_schedule_all_steps_are_surgery():
    assert SurgerySchedule().from_the_start
    assert SurgerySchedule().blend(0, 10) == 1.0


@pytest.mark.parametrize(
    ("start", "full", "word"),
    [
        (-0.1, 0.5, "start"),
        (1.0, 1.0, "start"),
        (0.5, 1.0, "full"),
        (0.5, 0.4, "ramp"),
        (math.nan, 0.5, "start"),
        (True, True, "start"),
        ("0.5", 0.5, "start"),
    ],
)
def test_what_cannot_be_is_refused(start, full, word):
    with pytest.raises(ValueError, match=word):
        SurgerySchedule(start, full)


def test_it_survives_json():
    schedule = SurgerySchedule(0.2, 0.6)
    assert SurgerySchedule.from_json(schedule.to_json()) == schedule
