"""Records as JSON and large buffers beside it: how the binary form holds any `Spec`. Knows no record by name."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Record, TokenTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Buffer

_NONE = type(None)
# Fields that may be views of the file; other bytes are copied out of it.
_VIEWS = ("merges", "joined", "by_bytes", "used", "scores", "types")


def encode(value: Any, columns: list[Buffer], tables: list[TokenTable], field: str = "") -> Any:
    """Return JSON for a record or one of its fields; buffers are appended to `columns`, token tables to `tables`.

    Raises
    ------
    SpecError
        It holds something that is neither a record nor plain.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        if len(value) > 1 and (kind := _kind_of_all(value)) is not None:
            return {"all": _name(kind), "rows": [[getattr(item, name) for name in kind.__slots__] for item in value]}
        return [encode(item, columns, tables, field) for item in value]
    if isinstance(value, (bytes, memoryview)):
        columns.append(value)
        return {"view" if field in _VIEWS else "bytes": len(columns) - 1}
    if isinstance(value, TokenTable):
        tables.append(value)
        columns.append(value.splits)
        return {"table": len(tables) - 1, "splits": len(columns) - 1}
    if isinstance(value, Record):
        fields = {name: encode(getattr(value, name), columns, tables, name) for name in value.__slots__}
        return {"is": _name(type(value))} | fields
    raise SpecError(f"a binary vocabulary cannot hold {type(value).__name__} {value!r}")


def _name(kind: type[Record]) -> str:
    return f"{kind.__module__.partition('.')[2]}.{kind.__name__}"


def _kind_of_all(values: Sequence[Any]) -> type[Record] | None:
    """The class of records that are all of one and hold nothing but what JSON can say: such as added tokens, of which there may be many."""
    kind = type(values[0])
    plain = isinstance(values[0], Record) and all(
        type(item) is kind and all(isinstance(getattr(item, name), (str, int, float, _NONE)) for name in kind.__slots__) for item in values
    )
    return kind if plain else None


def decode(value: Any, columns: Sequence[memoryview], tables: Sequence[TokenTable]) -> Any:
    """Return what `encode` was given.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError, ImportError
        The JSON is none of `encode`, or a record refuses its fields.
    """
    if isinstance(value, list):
        return [decode(item, columns, tables) for item in value]
    if not isinstance(value, dict):
        return value
    if "is" in value:
        fields = dict(value)
        kind = _kind(fields.pop("is"))
        for name, field in fields.items():
            if type(field) is dict or type(field) is list:
                fields[name] = decode(field, columns, tables)
        return kind(**fields)
    if "all" in value:
        kind = _kind(value["all"])
        return [kind(*row) for row in value["rows"]]
    if "table" in value:
        table = tables[value["table"]]
        return TokenTable(table.data, table.ends, table.ids, columns[value["splits"]])
    ((what, index),) = value.items()
    if not isinstance(index, int) or index < 0:
        raise ValueError(f"{index!r} is no number of a column")
    return columns[index] if what == "view" else bytes(columns[index])


_PACKAGE = __name__.partition(".")[0]
_known: dict[str, type[Record]] = {}


def _kind(name: str) -> type[Record]:
    found = _known.get(name)
    if found is None:
        found = _known[name] = _looked_up(name)
    return found


def _looked_up(name: str) -> type[Record]:
    module, _, kind = name.rpartition(".")
    if not (module in ("spec", "spec._record") or (module.startswith("stagespecs.") and module[11:].isidentifier())):
        raise ValueError(f"{name!r} is no record")
    found = getattr(__import__(f"{_PACKAGE}.{module}", fromlist=[kind]), kind)
    if not isinstance(found, type) or not issubclass(found, Record) or found is Record:
        raise ValueError(f"{name!r} is no record")
    return found
