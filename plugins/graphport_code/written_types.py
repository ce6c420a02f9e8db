"""Objects of the types that annotations spell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code.ir import Expr
from graphport_code.values import (
    OUTSIDE,
    Builtin,
    Class,
    Constant,
    Container,
    Frame,
    Instance,
    Outside,
    Thunk,
    Value,
    distinct,
)

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

_ELEMENT_FIRST = frozenset(
    "list List set Set frozenset FrozenSet tuple Tuple Sequence MutableSequence Iterable Iterator Collection deque "
    "AsyncIterator AsyncIterable Generator AsyncGenerator AbstractSet KeysView ValuesView Array ReadonlyArray slice "
    "Vec VecDeque HashSet BTreeSet BinaryHeap ArrayList LinkedList Queue Deque TreeSet Stream Optional Supplier "
    "CompletableFuture Future".split()
)
_ELEMENT_LAST = frozenset(
    "dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict Map ReadonlyMap HashMap BTreeMap TreeMap "
    "LinkedHashMap ConcurrentHashMap IndexMap Record".split()
)
_TRANSPARENT = frozenset(
    "Optional Union Annotated Final ClassVar Awaitable Coroutine Promise Required NotRequired ReadOnly Self".split()
)
_HOLDS_FIRST = frozenset(
    "Box Rc Arc Result RefCell Cell Mutex RwLock Cow Pin Weak Ref RefMut MutexGuard Option".split()
)
"""Wrappers that are read as what they hold."""
_SAYS_NOTHING = frozenset({"Any", "object", "Callable", "type", "Type", "TypeVar", "any", "unknown", "Function"})


def of_type(evaluator: Evaluator, spelled: Expr, frame: Frame) -> Values:
    """Objects of a written type: instances of classes, containers of element types, `OUTSIDE` for others' types."""
    operation = spelled[0]
    if operation == "u":
        return distinct([value for option in spelled[1] for value in of_type(evaluator, option, frame)])
    if operation == "t":
        items = tuple((Constant(place), Thunk(Expr(["T", item], 1), frame)) for place, item in enumerate(spelled[1]))
        return (Container(items, size=len(items)),)
    if operation == "s":
        return _of_generic(evaluator, spelled, frame)
    if operation == "k":
        return ()
    text = spelled[1] if operation == "n" else spelled[2] if operation == "a" else ""
    if text in _SAYS_NOTHING:
        return ()
    if text == "Self":
        return _self_type(evaluator, frame)
    found: list[Value] = []
    for value in evaluator.values(spelled, frame):
        if isinstance(value, Class):
            found.append(Instance(value))
        elif isinstance(value, (Outside, Builtin)):
            found.append(OUTSIDE)
        elif isinstance(value, (Instance, Container)):  # an alias of a written type
            found.append(value)
    return distinct(found)


def _self_type(evaluator: Evaluator, frame: Frame) -> Values:
    if frame.scope["k"] == "class":
        return (Instance(Class(frame.path, frame.key, frame.scope)),)
    receiver = evaluator.receiver(frame)
    of = receiver.of if isinstance(receiver, Instance) else receiver
    return (Instance(of),) if isinstance(of, Class) else ()


def _of_generic(evaluator: Evaluator, spelled: Expr, frame: Frame) -> Values:
    base, arguments = spelled[1], spelled[2]
    parts = arguments[1] if arguments[0] == "t" else [arguments]
    text = base[1] if base[0] == "n" else base[2] if base[0] == "a" else ""
    if text in _HOLDS_FIRST:
        return of_type(evaluator, parts[0], frame)
    if text in _TRANSPARENT:
        chosen = parts[-1:] if text == "Coroutine" else parts
        return distinct([value for part in chosen for value in of_type(evaluator, part, frame)])
    if text in ("type", "Type"):
        spelled_classes = [value for part in parts for value in evaluator.values(part, frame)]
        return distinct([value.of if isinstance(value, Instance) else value for value in spelled_classes])
    if text in _SAYS_NOTHING:
        return ()
    if text in ("tuple", "Tuple") and not (len(parts) == 2 and parts[1] == ["x"]):
        return of_type(evaluator, Expr(["t", parts], 1), frame)
    if text in _ELEMENT_FIRST:
        return (Container(((None, Thunk(Expr(["T", parts[0]], 1), frame)),), generator="Generator" in text),)
    if text in _ELEMENT_LAST:
        return (Container(((None, Thunk(Expr(["T", parts[-1]], 1), frame)),), mapping=True),)
    return of_type(evaluator, base, frame)
