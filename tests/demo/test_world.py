import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.demo.world import (
    Code,
    Host,
    HostState,
    Life,
    Page,
    Spell,
    Trouble,
    World,
    answer_of,
    behaviour_on,
    host_state,
    shifted,
)

LIVES = st.lists(st.integers(0, 200), min_size=1, max_size=6, unique=True).map(
    lambda days: tuple(Spell(day, day) for day in sorted(days))
)


@given(LIVES, st.integers(-10, 300))
def test_the_newest_spell_that_has_begun_holds(life: Life[int], day: int) -> None:
    begun = [spell.behaviour for spell in life if spell.from_day <= day]
    assert behaviour_on(life, day) == (max(begun) if begun else life[0].behaviour)


@pytest.mark.parametrize("life", [(), (Spell(3, 1), Spell(3, 2)), (Spell(4, 1), Spell(3, 2))])
def test_a_life_without_order_is_refused(life: Life[int]) -> None:
    with pytest.raises(ValueError):
        behaviour_on(life, 3)


WORLD = World(
    {
        "a.demo": Host(
            life=(Spell(0, HostState.UP), Spell(10, HostState.DNS_GONE), Spell(20, Code(503, 60))),
            paths={"/x": (Spell(0, Page()), Spell(5, Code(404))), "/q?n=1": (Spell(0, Code(410)),)},
        )
    }
)


def test_a_path_has_a_life_of_its_own_but_what_the_host_does_goes_first() -> None:
    assert answer_of(WORLD, "A.demo", "/x", 4) == Page()
    assert answer_of(WORLD, "a.demo", "/x", 5) == Code(404)
    assert answer_of(WORLD, "a.demo", "/%78?any=1", 5) == Code(404)
    assert answer_of(WORLD, "a.demo", "/q?n=1", 0) == Code(410)
    assert answer_of(WORLD, "a.demo", "/q?n=2", 0) == Code(404)
    assert answer_of(WORLD, "a.demo", "/", 0) == Page(title="a.demo")
    assert answer_of(WORLD, "b.demo", "/", 0) == Code(421)
    assert host_state(WORLD, "a.demo", 10) is HostState.DNS_GONE
    assert answer_of(WORLD, "a.demo", "/x", 10) is Trouble.RESET
    assert host_state(WORLD, "a.demo", 20) is HostState.UP
    assert answer_of(WORLD, "a.demo", "/x", 20) == Code(503, 60)
    assert host_state(WORLD, "b.demo", 0) is None


@given(st.integers(0, 30), st.integers(0, 4000))
def test_a_shifted_world_is_the_same_so_many_days_later(day: int, days: int) -> None:
    later = shifted(WORLD, days)
    assert answer_of(later, "a.demo", "/x", day + days) == answer_of(WORLD, "a.demo", "/x", day)
    assert host_state(later, "a.demo", day + days) == host_state(WORLD, "a.demo", day)
