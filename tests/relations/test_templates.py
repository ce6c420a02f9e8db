"""Templates stand for finite word sequences, and find in a text exactly what they say."""

from __future__ import annotations

import time

import pytest

from graphport.config import load_config
from graphport.errors import ConfigError, InvalidIdError, InvalidInputError
from graphport.matching import Matcher
from graphport.patterns import DEFAULT_PATTERNS, Patterns
from graphport.templates import template_forms

TYPES = {"calvin": "person", "farel": "person", "institutes": "book", "trent": "council", "town": "location"}
MATCHER = Matcher(
    {
        "John Calvin": ["calvin"], "Calvin": ["calvin"], "Farel": ["farel"], "Institutes": ["institutes"],
        "Trent": ["trent", "town"], "Council of Trent": ["trent"], "phrase": ["no entity"],
    }
)  # fmt: skip


def found(text: str, *templates: str) -> list[tuple[str, str, str]]:
    """(subject, object, the words they were found in)."""
    rows = Patterns({"x": templates}).find(text, MATCHER, TYPES.get)
    return [(row.subject, row.object, text[row.start : row.end]) for row in rows]


class TestSyntax:
    def test_choices_and_options_are_written_out(self) -> None:
        forms = template_forms("{subject} (is|was) [the|an] author of {object}")
        assert [" ".join(form.between) for form in forms] == [
            "is the author of", "is an author of", "is author of",
            "was the author of", "was an author of", "was author of",
        ]  # fmt: skip

    def test_words_around_the_slots_and_types_are_kept(self) -> None:
        (form,) = template_forms("when {object:council} heard {subject: person} speak.")
        assert (form.before, form.between, form.after) == (("when",), ("heard",), ("speak", "."))
        assert (form.subject_first, form.subject_type, form.object_type) == (False, "person", "council")

    @pytest.mark.parametrize(
        "template, reason",
        [
            ("", "must hold {subject} and {object}"),
            ("{subject} is here", "must hold {subject} and {object}"),
            ("{subject} and {subject} met {object}", "each once"),
            ("{subject} is {place}", "no other slot"),
            ("{subject} is {object}, {x}", "no other slot"),
            ("{subject} {object}", "a word between"),
            ("{subject}, {object}", "a word between"),
            ("{subject} [is] {object}", "a word between"),
            ("{subject} (is {object}", "cannot be read from '(is"),
            ("{subject} is] {object}", "cannot be read from '] "),
            ("{subject} (is [a]) {object}", "must close and not nest"),
            ("{subject" + " is {object}", "cannot be read from '{subject"),
            ("{subject} " + "so " * 13 + "{object}", "more than 12 words"),
            ("{subject} is " + "(a|b|c|d|e)" * 4 + "{object}", "625 word sequences"),
        ],
    )
    def test_what_cannot_be_read_is_refused_with_the_reason(self, template: str, reason: str) -> None:
        with pytest.raises(InvalidInputError, match="template") as caught:
            template_forms(template)
        assert reason in str(caught.value)

    def test_the_shipped_list_can_be_read(self) -> None:
        assert set(DEFAULT_PATTERNS) == {"is_a", "part_of", "attended", "wrote"}
        Patterns(DEFAULT_PATTERNS)

    def test_a_kind_must_be_a_name_and_not_the_one_that_is_counted(self) -> None:
        with pytest.raises(InvalidIdError, match="kind of relation"):
            Patterns({"a\0b": ["{subject} is {object}"]})
        with pytest.raises(InvalidInputError, match="name another kind"):
            Patterns({"co_occurs": ["{subject} is {object}"]})


class TestFinding:
    @pytest.mark.parametrize(
        "text",
        [
            "Calvin wrote the Institutes.",
            "CALVIN WROTE THE INSTITUTES",
            "Calvin wrote\nthe Institutes",
            "Calvin wrote the *Institutes*",
            'Calvin wrote "the Institutes"',
            "**Calvin** wrote the \u201cInstitutes\u201d.",
            "In 1536 Calvin wrote Institutes of some length.",
        ],
    )
    def test_case_line_breaks_quotes_and_emphasis_do_not_matter(self, text: str) -> None:
        assert [row[:2] for row in found(text, "{subject} wrote [the] {object}")] == [("calvin", "institutes")]

    @pytest.mark.parametrize(
        "text",
        [
            "Calvin never wrote the Institutes.",
            "Calvin wrote. The Institutes sold.",
            "Calvin\n\nwrote the Institutes",
            "Calvin wrote the\n \nInstitutes",
            "Calvin wrote-the Institutes",
            "Calvinus wrote the Institutes",
            "wrote the Institutes",
            "Calvin wrote the",
            "",
        ],
    )
    def test_other_words_and_blank_lines_do(self, text: str) -> None:
        assert found(text, "{subject} wrote [the] {object}") == []

    def test_the_object_may_come_first(self) -> None:
        assert found("the Institutes, written by John Calvin", "{object}[, |is] written by {subject}") == [
            ("calvin", "institutes", "Institutes, written by John Calvin")
        ]

    def test_a_possessive_is_a_word(self) -> None:
        text = "Calvin\u2019s Institutes"
        assert found(text, "{subject}'s {object}") == [("calvin", "institutes", text)]

    def test_words_before_and_after_must_stand_there(self) -> None:
        template = "the late {subject} wrote {object} in Geneva"
        assert found("The late Calvin wrote Institutes in Geneva", template)
        assert not found("The Calvin wrote Institutes in Geneva", template)
        assert not found("The late Calvin wrote Institutes in Basel", template)
        assert not found("The late\n\nCalvin wrote Institutes in Geneva", template)
        assert not found("The late Calvin wrote Institutes\n\nin Geneva", template)

    def test_a_name_in_between_is_no_obstacle_where_the_template_says_so(self) -> None:
        assert found("Calvin saw Farel at Trent", "{subject} saw Farel at {object:council}") == [
            ("calvin", "trent", "Calvin saw Farel at Trent")
        ]

    def test_every_reading_of_a_name_is_related_unless_the_slot_has_a_type(self) -> None:
        assert [row[1] for row in found("Farel saw Trent", "{subject} saw {object}")] == ["town", "trent"]
        assert [row[1] for row in found("Farel saw Trent", "{subject} saw {object:council}")] == ["trent"]
        assert found("Farel saw Trent", "{subject:council} saw {object}") == []

    def test_nothing_is_related_to_itself_and_phrases_are_no_entities(self) -> None:
        assert found("Calvin met John Calvin", "{subject} met {object}") == []
        assert found("Calvin met phrase", "{subject} met {object}") == []

    def test_what_stands_twice_in_the_list_is_found_once(self) -> None:
        assert len(found("Calvin met Farel", "{subject} met {object}", "{subject} (met|met) {object}")) == 1

    def test_a_long_text_of_names_takes_time_in_proportion(self) -> None:
        patterns = Patterns(DEFAULT_PATTERNS)
        spent: list[float] = []
        for times in (2000, 8000):
            text = "Calvin wrote wrote the Farel, a " * times
            begin = time.process_time()
            patterns.find(text, MATCHER, TYPES.get)
            spent.append(time.process_time() - begin)
        assert spent[1] < 16 * spent[0]  # four times the text; quadratic would be sixteen times the time


@pytest.mark.parametrize(
    "relations, reason",
    [
        ({"co_occurs": True}, "valid integer"),
        ({"co_occurs": -1}, "greater than or equal to 0"),
        ({"patterns": "defalt"}, "write default"),
        ({"patterns": {"is_a": ["{subject} is"]}}, "must hold"),
        ({"patterns": {"co_occurs": ["{subject} is {object}"]}}, "name another kind"),
    ],
)
def test_a_config_that_cannot_be_used_says_why(relations: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        load_config({"vector_dbs": [{"name": "a", "relations": relations}]})
    assert caught.value.problem == "bad-knowledge-relations"
