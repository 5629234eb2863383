"""Every spec that the model can hold comes back from its YAML text, and gives the same text."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.generated_formats import EVERY_FORMAT
from tests.specs_for_tests import json_native_spec
from turnspec.spec.calls import (
    AfterFirst,
    Arguments,
    Elements,
    Fields,
    Guard,
    Literal,
    Piece,
    Slot,
    Tools,
    ValueSyntax,
)
from turnspec.spec.files import dump_spec, load_spec
from turnspec.spec.model import (
    Capabilities,
    Content,
    ContentBlocks,
    End,
    Grammar,
    Join,
    Limit,
    Reasoning,
    Spec,
    SwitchWord,
    TemplateIdentity,
    Thinking,
    ThinkingState,
    Token,
    Turn,
)
from turnspec.spec.words import (
    CallIdPosition,
    Condition,
    ContentMode,
    Encoding,
    IndexScope,
    JsonType,
    Part,
    PrefixStep,
    ReasoningMode,
    ReasoningScope,
    SlotKind,
    Subject,
    Switch,
    TokenSource,
    ToolMode,
    Verdict,
)

PARTS = (Part.REASONING, Part.CONTENT, Part.CALLS)

any_character = st.characters(exclude_categories=())  # lone surrogates and controls too
awkward = st.sampled_from(
    (
        *("", "null", "true", "no", "on", "1", "1e5", "~", "a: b", "- a", "# a", "{a}", "&a"),
        *("*a", "!a", "|", ">", "%a", "@a", "`a", "'", '"', "\\", "\\ud800", "<<", " a ", "---"),
        *("\n", "a\n"),
    )
)
texts = st.text(any_character, max_size=12) | awkward
text_tuples = st.lists(texts, max_size=3).map(tuple)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
setting_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
states = st.builds(ThinkingState, texts, st.dictionaries(texts, setting_values, max_size=3))


def pieces(kinds: Sequence[SlotKind]) -> st.SearchStrategy[tuple[Piece, ...]]:
    piece = st.builds(Literal, texts) | st.builds(Slot, st.sampled_from(kinds))
    return st.lists(piece, max_size=5).map(tuple)


value_syntaxes = st.builds(
    ValueSyntax,
    encoding=st.sampled_from(Encoding),
    item_separator=texts,
    key_separator=texts,
    indent=st.none() | st.integers(0, 8),
    margin=st.integers(0, 8),
    ascii_only=st.booleans(),
    sorted_keys=st.booleans(),
    sort_ignores_case=st.booleans(),
    quote=texts,
    bare_keys=st.booleans(),
    null=texts,
    one_quote=st.booleans(),
    python_words=st.booleans(),
    in_string=st.booleans(),
)
arguments = st.just(Arguments()) | st.builds(
    Arguments,
    syntax=value_syntaxes,
    item=pieces((SlotKind.KEY, SlotKind.TYPE, SlotKind.VALUE)),
    start=texts,
    separator=texts,
    end=texts,
    empty=texts,
    values=st.dictionaries(st.sampled_from(JsonType), st.sampled_from(Encoding)),
    types=st.dictionaries(st.sampled_from(JsonType), texts),
    guard=st.none() | st.builds(Guard, start=texts, end=texts, characters=texts),
    elements=st.none()
    | st.builds(
        Elements,
        member=pieces((SlotKind.KEY, SlotKind.VALUE)),
        element=pieces((SlotKind.VALUE,)),
        separator=texts,
    ),
)
tools = st.builds(
    Tools,
    mode=st.sampled_from(ToolMode),
    section_start=texts,
    call=pieces((SlotKind.NAME, SlotKind.ID, SlotKind.INDEX, SlotKind.COUNT, SlotKind.ARGUMENTS)),
    separator=texts,
    section_end=texts,
    arguments=arguments,
    fields=st.builds(Fields, text_tuples, text_tuples, text_tuples, st.booleans()),
    call_id=st.sampled_from(CallIdPosition),
    id_parts=pieces((SlotKind.NAME, SlotKind.INDEX)),
    index_base=st.none() | st.integers(),
    index_scope=st.none() | st.sampled_from(IndexScope),
    after_first=st.none() | st.builds(AfterFirst, texts, texts, texts),
    empty_call=pieces((SlotKind.NAME, SlotKind.ID, SlotKind.INDEX, SlotKind.COUNT)),
)
points = st.sampled_from((Part.START, *PARTS))
turns = st.builds(
    Turn,
    header=texts,
    order=st.lists(st.sampled_from(PARTS), max_size=4).map(tuple),
    joins=st.lists(st.builds(Join, points, st.sampled_from(PARTS), texts), max_size=3).map(tuple),
    ends=st.lists(st.builds(End, points, texts, texts), max_size=3).map(tuple),
    calls_decide_end=st.booleans(),
    stop=text_tuples,
)
roles = st.lists(st.sampled_from(("system", "user")), min_size=1, max_size=2).map(tuple)
words = st.builds(SwitchWord, texts, st.sampled_from(Switch), roles, texts)
specs = st.builds(
    Spec,
    name=st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True),
    template=st.builds(
        TemplateIdentity,
        file=texts,
        sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
        origin=texts,
    ),
    tokens=st.dictionaries(
        texts, st.builds(Token, texts, st.sampled_from(TokenSource)), max_size=3
    ),
    capabilities=st.builds(
        Capabilities, *[st.booleans()] * 11, st.none() | st.sampled_from(PrefixStep)
    ),
    thinking=st.builds(
        Thinking,
        st.builds(ThinkingState, texts),
        states,
        states,
        st.lists(words, max_size=2).map(tuple),
    ),
    turn=turns,
    reasoning=st.builds(
        Reasoning,
        mode=st.sampled_from(ReasoningMode),
        start=texts,
        end=texts,
        field=st.none() | texts,
        scope=st.sampled_from(ReasoningScope),
        blocks=st.none() | st.builds(ContentBlocks, texts, texts, texts, texts, texts),
    ),
    content=st.builds(Content, st.sampled_from(ContentMode), texts, texts),
    tools=st.none() | tools,
    limits=st.lists(
        st.builds(
            Limit,
            st.sampled_from(Subject),
            st.sampled_from(Verdict),
            st.sampled_from(Condition),
            texts,
            characters=texts,
        ),
        max_size=3,
    ).map(tuple),
    grammar=st.builds(Grammar, text_tuples, text_tuples),
)


@settings(derandomize=True, max_examples=300 if EVERY_FORMAT else 80, deadline=None)
@given(specs)
def test_every_spec_comes_back(spec: Spec) -> None:
    text = dump_spec(spec)
    back = load_spec(text, "x.yaml")
    assert back == spec
    assert isinstance(back, Spec)
    assert dump_spec(back) == text
    text.encode("utf-8")  # what is written to a file has no lone surrogate


@settings(derandomize=True, max_examples=300 if EVERY_FORMAT else 80, deadline=None)
@given(st.data())
def test_a_spoiled_file_never_raises(data: st.DataObject) -> None:
    text = dump_spec(json_native_spec())
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    new = data.draw(
        texts | st.sampled_from(["\t", "[", "}", "&a ", "*a", "? ", ": ", "- ", "!!x "])
    )
    result = load_spec(text[:start] + new + text[end:], "x.yaml")
    assert isinstance(result, Spec) or (result and all(problem.message for problem in result))
