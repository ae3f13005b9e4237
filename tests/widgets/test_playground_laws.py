"""Laws of the playground: after any steps every number is recnb's own, and what a step changed adds up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.widgets import PlaygroundState
from tests.examples import examples

ITEMS = tuple("ABCDEF")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from(ITEMS), st.integers(1, 6)),
        st.tuples(st.just("set_relevance"), st.sampled_from([*ITEMS, "G"]), st.sampled_from((0, 0.5, 1, 2, 3))),
        st.tuples(st.just("set_k"), st.integers(1, 9)),
        st.tuples(st.just("set_gain"), st.sampled_from(("linear", "exponential", "binary"))),
        st.tuples(st.just("reorder"), st.permutations(ITEMS)),
        st.tuples(st.sampled_from(("undo", "reset"))),
    ),
    max_size=8,
)


def played(state: PlaygroundState, name: str) -> float:
    """What recnb itself says of the list as it stands."""
    options = {"gain": state.gain} if "gain" in METRICS[name].defaults else {}
    return float(getattr(recnb, name)(list(state.order), state.relevance, k=state.k, **options))


def after(steps: list, **options) -> PlaygroundState:
    state = PlaygroundState(**options)
    for name, *arguments in steps:
        getattr(state, name)(*arguments)
    return state


@given(STEPS)
@settings(max_examples=examples(20), deadline=None)
def test_after_any_steps_the_values_are_those_of_recnb(steps):
    state = after(steps, metrics=list(METRICS))
    for name, one in state.values().items():
        assert one.now == played(state, name), name
        assert state.explanation(name).value == one.now
    assert sorted(state.order) == sorted(ITEMS)


@given(STEPS, st.sampled_from(list(METRICS)))
@settings(max_examples=examples(60), deadline=None)
def test_terms_add_up_to_the_sum_and_their_changes_to_its_change(steps, name):
    state = after(steps, metrics=[name])
    changed = state.changed()
    for worked in (changed.before, changed.now):
        assert sum(one.credit for one in worked.terms.values()) == pytest.approx(worked.total)
        out_of = 1 if worked.out_of is None else worked.out_of
        assert worked.value == pytest.approx(worked.total / out_of if out_of else 0)
    assert changed.total_change == pytest.approx(changed.now.total - changed.before.total)
    assert changed.change == pytest.approx(state.values()[name].change)
    for one in changed.terms:
        assert one.change == pytest.approx(
            (one.now.credit if one.now else 0) - (one.before.credit if one.before else 0)
        )


@given(STEPS, st.sampled_from(ITEMS), st.integers(1, 6))
@settings(max_examples=examples(40), deadline=None)
def test_a_move_and_its_inverse_restore(steps, item, rank):
    state = after(steps)
    setting, old = state.setting, state.rank(item)
    state.move(item, rank)
    state.move(item, old)
    assert state.setting == setting


@given(STEPS)
@settings(max_examples=examples(40), deadline=None)
def test_undo_leads_back_to_the_start_step_by_step(steps):
    state = PlaygroundState()
    seen = [state.setting]
    for name, *arguments in steps:
        getattr(state, name)(*arguments)
        if name == "undo":
            seen = seen[: len(state.past) + 1]
        elif state.setting != seen[-1]:
            seen.append(state.setting)
        assert state.past == seen[:-1]
    while state.past:
        state.undo()
        seen.pop()
        assert state.setting == seen[-1]
    assert state.setting == state.first
    state.undo()
    assert state.setting == state.first


@given(STEPS, st.permutations(ITEMS))
@settings(max_examples=examples(40), deadline=None)
def test_no_permutation_changes_what_does_not_look_at_the_order(steps, order):
    state = after(steps, metrics=["recall", "precision", "cg", "hit_rate", "idcg", "f1"])
    state.set_k(6)
    before = {name: one.now for name, one in state.values().items()}
    state.reorder(order)
    assert {name: one.now for name, one in state.values().items()} == pytest.approx(before)


@given(STEPS, st.sampled_from(ITEMS))
@settings(max_examples=examples(40), deadline=None)
def test_an_item_moved_above_one_no_more_relevant_lowers_nothing(steps, item):
    state = after(steps, metrics=["dcg", "ndcg", "average_precision", "reciprocal_rank", "rbp", "precision", "recall"])
    state.set_k(6)
    rank = state.rank(item)
    if rank == 1 or state.relevance[state.order[rank - 2]] > state.relevance[item]:
        return
    state.move(item, rank - 1)
    assert all(one.change >= -1e-12 for one in state.values().values())


def test_a_relevant_item_moved_to_the_top_never_lowers_dcg_if_it_is_the_most_relevant():
    for rank in range(2, 7):
        state = PlaygroundState([1, 1, 2, 0, 1, 0], metrics=["dcg"])
        best = state.order[rank - 1]
        state.set_relevance(best, 3)
        state.move(best, 1)
        assert state.values()["dcg"].change > 0
