"""The layered mapping against a plain dict."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.layered import Layered

changes = st.dictionaries(st.integers(0, 30), st.none() | st.text(max_size=2), max_size=8)


@given(st.lists(changes, max_size=12))
@settings(max_examples=200, deadline=None)
def test_it_is_the_dict_that_all_changes_make(steps: list[dict[int, str | None]]) -> None:
    layered: Layered[int, str] = Layered({})
    plain: dict[int, str] = {}
    for step in steps:
        before, kept = layered, dict(plain)
        layered = layered.changed(step)
        plain = {key: value for key, value in {**plain, **step}.items() if value is not None}
        assert dict(layered) == plain
        assert (len(layered), len(before)) == (len(plain), len(kept))
        assert dict(before) == kept
        assert all((key in layered) == (key in plain) for key in range(31))


def test_a_key_that_went_is_missing() -> None:
    with pytest.raises(KeyError):
        Layered({1: "a"}).changed({1: None})[1]


def test_few_changes_share_the_large_layer_and_many_are_merged_into_one() -> None:
    large = Layered(dict.fromkeys(range(10000), "a"))
    few = large.changed(dict.fromkeys(range(100), "b"))
    assert few.frozen is large.frozen
    many = few.changed(dict.fromkeys(range(100, 500), "b"))
    assert many.frozen is not large.frozen
    assert not many.changes
