from collections.abc import Mapping, Sequence

from typing_extensions import Buffer

def fail_after(n: int) -> int: ...
def characters(data: bytes, counts_ends: Buffer, counts: Buffer) -> dict[int, int]: ...
def places(data: bytes, counts_ends: Buffer) -> dict[int, int]: ...

class Cells:
    @property
    def dropped(self) -> int: ...
    def __new__(
        cls,
        data: Buffer,
        ends: Buffer,
        counts: Buffer,
        ids: Sequence[int] | Sequence[Mapping[int, int]] | None,
        order: Buffer | None = None,
        cuts: bool = False,
    ) -> Cells: ...
    def words(self) -> list[tuple[list[int], int]]: ...
