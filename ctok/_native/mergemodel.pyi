from collections.abc import Iterable

from typing_extensions import Buffer

from ..spec import TokenTable
from .model import Model
from .safecut import SafeCut
from .vocab import Vocab

class MergeModel(Model):
    @property
    def streams(self) -> bool: ...

class MergeList(MergeModel):
    vocab: Vocab
    unk_id: int | None

    def __new__(
        cls,
        tokens: TokenTable,
        merges: Buffer,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        fuse_unk: bool = False,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
        dropout: float | None = None,
        byte_level: bool = False,
        added: Iterable[tuple[str, int] | tuple[str, int, bool]] = (),
        joined: Buffer = b"",
        by_bytes: Buffer = b"",
        used: Buffer = b"",
    ) -> MergeList: ...
    @property
    def is_ranked(self) -> bool: ...
    def safe_cut(self) -> SafeCut | None: ...
    def sample(self, pretoken: str | Buffer, alpha: float, nbest_size: int | None = None, seed: int | None = None) -> list[int]: ...

def table_by_bytes(tokens: TokenTable) -> memoryview: ...

# For tests.
def encode_side_by_side(model: MergeModel, pretokens: list[bytes], times: int = 1) -> tuple[list[list[int]], float]: ...
def fail_after(n: int) -> int: ...
