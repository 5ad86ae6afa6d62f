from collections.abc import Iterable
from typing import Literal, SupportsIndex

from typing_extensions import Buffer

from .vocab import Vocab

_Ids = Iterable[SupportsIndex] | Buffer
_Errors = Literal["replace", "strict", "ignore"]
_Policy = Literal["maximal_subpart", "per_byte", "hf_run"] | None

def decode_bytes(vocab: Vocab, ids: _Ids, skip_special: bool) -> bytes: ...
def decode_str(vocab: Vocab, ids: _Ids, skip_special: bool, errors: _Errors, policy: _Policy, skip_unknown: bool = False) -> str: ...
def fail_after(n: int) -> int: ...
