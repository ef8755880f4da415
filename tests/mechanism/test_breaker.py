"""The circuit breaker as such; the clock is a number."""

from weboid.mechanism.breaker import Admission, Breaker


def opened(at_s: float = 0.0) -> Breaker:
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    assert [breaker.failed(at_s, breaker.admit(at_s), question) for question in "abc"] == [False, False, True]
    return breaker


def test_different_questions_in_a_row_open_it_and_the_same_one_counts_once_with_its_greatest_weight() -> None:
    breaker = opened()
    assert breaker.opened_s == 0.0
    assert breaker.admit(9.9) is Admission.NO
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    assert not any(breaker.failed(number, Admission.USUAL, "a") for number in range(50))
    assert not breaker.failed(50, Admission.USUAL, "a", 2)
    assert breaker.failed(51, Admission.USUAL, "b")


def test_a_success_ends_the_row_and_it_does_not_open_so_soon_after_one() -> None:
    breaker = Breaker(3, first_s=10.0, longest_s=45.0)
    for number in range(30):
        assert breaker.admit(number) is Admission.USUAL
        if number % 3 == 2:
            assert breaker.succeeded(number) is None
        else:
            assert not breaker.failed(number, Admission.USUAL, number)
    breaker = Breaker(3, first_s=10.0, longest_s=45.0, calm_s=2.0)
    breaker.succeeded(100.0)
    assert not any(breaker.failed(101.9, Admission.USUAL, question) for question in range(1_000))
    assert breaker.failed(102.0, Admission.USUAL, "a")


def test_one_caller_at_a_time_probes_and_its_failures_let_it_rest_longer_and_longer() -> None:
    breaker, now_s, rests = opened(), 0.0, []
    for _ in range(5):
        begun_s = now_s
        while breaker.is_shut(now_s):
            now_s += 1
        rests.append(now_s - begun_s)
        assert breaker.admit(now_s) is Admission.PROBE
        assert [breaker.admit(now_s), breaker.is_shut(now_s + 1_000)] == [Admission.NO, True]
        assert not breaker.failed(now_s, Admission.PROBE, "a")
    assert rests == [10, 20, 40, 45, 45]
    now_s += 45
    assert breaker.admit(now_s) is Admission.PROBE
    assert breaker.succeeded(now_s) == now_s
    assert breaker.admit(now_s) is Admission.USUAL
    assert not breaker.failed(now_s, Admission.USUAL, "a")


def test_an_undecided_probe_lets_the_next_one_probe_and_late_failures_change_nothing() -> None:
    breaker = opened()
    assert breaker.admit(10.0) is Admission.PROBE
    breaker.undecided(Admission.PROBE)
    assert breaker.admit(10.0) is Admission.PROBE
    breaker = opened()
    assert not breaker.failed(1.0, Admission.USUAL, "late")
    breaker.undecided(Admission.USUAL)
    assert breaker.admit(9.9) is Admission.NO
    assert breaker.succeeded(9.9) == 9.9
    assert breaker.admit(9.9) is Admission.USUAL
