"""A batch as rectangles: what `Encoding` says of each text, in one block of memory."""

import pickle
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctok._native import padded
from ctok._native.ids import Ids
from ctok._native.padded import Batch, Matrix, batch_of_encodings, batch_of_rows
from ctok.encoding import Encoding, pad_all
from ctok.stages.postprocessors import Frame, build_post_processor
from ctok.stagespecs import postprocessors as specs
from ctok.stagespecs.limits import Padding, Truncation

FRAME = Frame((101, 7), (102,), (0, 3), 2, (1,))
POST = specs.TemplateProcessing(
    [specs.SpecialPiece("<s>", 3), specs.SequencePiece("A", 2), specs.SpecialPiece("</s>", 1)],
    [specs.SequencePiece("A"), specs.SequencePiece("B")],
    [specs.TemplateToken("<s>", [101, 7], ["<s>", "!"]), specs.TemplateToken("</s>", [102], ["</s>"])],
)


def encoding(ids):
    places = array("I", range(len(ids)))
    return Encoding.from_tokens(array("I", ids), places, places, places, token=str)


ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=9), max_size=5)
LIMITS = st.none() | st.builds(Truncation, st.integers(3, 9), direction=st.sampled_from(["left", "right"]))
FILLINGS = st.builds(
    Padding,
    st.none() | st.integers(0, 14),
    st.sampled_from(["left", "right"]),
    st.none() | st.integers(0, 5),
    st.integers(0, 2**31 - 1),
    st.integers(0, 4),
)


@settings(max_examples=200)
@given(ROWS, LIMITS, FILLINGS, st.sampled_from(["int64", "int32"]), st.sampled_from([list, tuple, lambda row: array("I", row), "ids"]))
def test_batch_of_rows_says_what_encodings_say(rows, truncation, padding, dtype, kind):
    given_rows = [Ids.from_buffer(array("I", row)) if kind == "ids" else kind(row) for row in rows]
    post = build_post_processor(POST)
    got = batch_of_rows(given_rows, post.frame(), truncation, padding, dtype)
    encodings = [post.encode(encoding(row), truncation=truncation) for row in rows]
    bare = [len(one) for one in encodings]
    if padding.length is not None and encodings:  # a rectangle is as wide as its longest text
        width = max(padding.length + (-padding.length % padding.pad_to_multiple_of if padding.pad_to_multiple_of else 0), *bare, 0)
        padding = Padding(width, padding.direction, None, padding.pad_id, padding.pad_type_id)
    filled = pad_all(encodings, padding)
    assert got.ids.tolist() == [one.ids for one in filled]
    assert got.attention_mask.tolist() == [one.attention_mask for one in filled]
    assert got.type_ids.tolist() == [one.type_ids for one in filled]
    assert got.lengths.tolist() == bare
    assert batch_of_encodings(filled, dtype) == got
    assert pickle.loads(pickle.dumps(got)) == got


def test_batch_of_rows_keeps_the_ends_that_truncation_names():
    rows = [[1, 2, 3, 4], [5]]
    right = batch_of_rows(rows, FRAME, Truncation(5), Padding(None, "right", pad_id=9, pad_type_id=4))
    assert right.ids == [[101, 7, 1, 2, 102], [101, 7, 5, 102, 9]]
    assert right.type_ids == [[0, 3, 2, 2, 1], [0, 3, 2, 1, 4]]
    assert right.attention_mask == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]
    left = batch_of_rows(rows, FRAME, Truncation(5, direction="left"), Padding(None, "left", pad_id=9))
    assert left.ids == [[101, 7, 3, 4, 102], [9, 101, 7, 5, 102]]
    assert left.lengths == [5, 4] and left.shape == (2, 5) and len(left) == 2
    assert repr(left) == "<Batch: 2 texts of 5 ids>" and repr(left.lengths) == "<Matrix: 2, int64>"


def test_k10_12_masks_come_from_padding_not_from_ids():
    got = batch_of_rows([[0, 5, 0], [0]], padding=Padding(pad_id=0))
    assert got.attention_mask == [[1, 1, 1], [1, 0, 0]]


def test_batch_without_padding_wants_rows_of_one_length():
    assert batch_of_rows([[1, 2], [3, 4]]).ids == [[1, 2], [3, 4]]
    assert batch_of_rows([[1, 2], [3]], truncation=Truncation(1)).ids == [[1], [3]]
    with pytest.raises(ValueError, match="text 1 has 4 ids, another 5: without padding"):
        batch_of_rows([[1, 2], [3]], FRAME)
    with pytest.raises(ValueError, match="text 1 has 1 ids, the first 2: without padding"):
        batch_of_encodings([encoding([1, 2]), encoding([3])])


def test_batch_of_nothing_is_empty():
    got = batch_of_rows([], FRAME, None, Padding())
    assert got.shape == (0, 0) and got.ids.tolist() == [] and got.lengths.tolist() == []
    assert batch_of_encodings([]).shape == (0, 0)
    assert batch_of_rows([[], []], None, None, Padding()).ids.tolist() == [[], []]


def test_batch_bad_input_is_refused():
    with pytest.raises(ValueError, match="max_length is 2, but the special tokens alone are 3"):
        batch_of_rows([[1]], FRAME, Truncation(2))
    with pytest.raises(ValueError, match="dtype must be 'int64' or 'int32', got 'uint32'"):
        batch_of_rows([[1]], dtype="uint32")
    with pytest.raises(ValueError, match=r"must be less than 2\*\*31 for dtype 'int32'"):
        batch_of_rows([[1]], padding=Padding(pad_id=2**31), dtype="int32")
    with pytest.raises(ValueError, match="2 ids around a text, but 1 type ids"):
        batch_of_rows([[1]], Frame((1, 2), (), (0,), 0, ()))
    with pytest.raises((TypeError, ValueError)):
        batch_of_rows([b"abc"])
    with pytest.raises((TypeError, OverflowError)):
        batch_of_rows([[-1]])
    with pytest.raises(ValueError, match="do not belong together"):
        Batch(Matrix(1, 2), Matrix(1, 2), Matrix(2, 1), Matrix(1, None))
    with pytest.raises(ValueError, match="cannot be negative"):
        Matrix(-1, 2)
    with pytest.raises(MemoryError):
        Matrix(1 << 50, 1 << 50)


def test_matrix_is_a_list_of_lists_and_memory():
    got = batch_of_rows([[1, 2, 3], [4, 5, 6]])
    assert got.ids[1] == [4, 5, 6] == got.ids[-1] and got.ids[1, 2] == 6 and got.lengths[0] == 3
    assert [*got.ids] == [[1, 2, 3], [4, 5, 6]] and len(got.ids) == 2
    view = memoryview(got.ids)
    assert (view.format, view.shape, view.strides, view.readonly) == ("q", (2, 3), (24, 8), False)
    view[0, 1] = 9
    assert got.ids.tolist() == [[1, 9, 3], [4, 5, 6]]
    with pytest.raises(IndexError, match="index 2 is out of range for 2 rows"):
        got.ids[2]
    assert got != "x" and got.ids != "x"


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_batch_is_an_array_of_numpy_without_a_copy(dtype):
    numpy = pytest.importorskip("numpy")
    got = batch_of_rows([[1, 2], [3]], FRAME, None, Padding(pad_id=5), dtype)
    ids = numpy.asarray(got.ids)
    assert ids.dtype == dtype and ids.shape == (2, 5) and ids.flags.writeable and ids.flags.c_contiguous
    assert ids.tolist() == [[101, 7, 1, 2, 102], [101, 7, 3, 102, 5]]
    ids[0, 0] = 77
    assert got.ids[0, 0] == 77
    assert numpy.asarray(got.lengths).tolist() == [5, 4]
    assert numpy.frombuffer(got.attention_mask, dtype=dtype).reshape(got.shape).tolist() == got.attention_mask.tolist()
    del got
    assert ids.sum() == 77 + 7 + 1 + 2 + 102 + 101 + 7 + 3 + 102 + 5


def test_batch_large_is_filled_without_the_gil():
    rows = [array("I", range(k, k + 500)) for k in range(200)]
    got = batch_of_rows(rows, FRAME, Truncation(400), Padding(512, "left"))
    assert got.shape == (200, 512) and got.ids[199][-398:-1] == [*range(199, 596)] and got.ids[3][:112] == [0] * 112


def test_batch_that_finds_no_memory_is_a_memory_error():
    if padded.fail_after(0) == -1 and padded.fail_after(-1) == -1:
        pytest.skip("only builds with CTOK_BUILD=test can make allocations fail")
    for n in range(9):
        padded.fail_after(n)
        with pytest.raises(MemoryError):
            batch_of_rows([[1, 2], [3]], FRAME, None, Padding())
        assert padded.fail_after(-1) == -1
    assert batch_of_rows([[1]]).ids == [[1]]


def test_batch_is_taken_by_torch_as_it_is():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import ctok

    tok = ctok.load("o200k_base")
    for dtype in ("int64", "int32"):
        batch = tok.encode_batch(["hello world", "a", ""], padding=True, dtype=dtype)
        for name in ("ids", "attention_mask", "type_ids", "lengths"):
            rows = getattr(batch, name)
            tensor = torch.frombuffer(rows, dtype=getattr(torch, dtype)).reshape(rows.shape)
            assert tensor.tolist() == rows.tolist() == torch.tensor(rows).tolist()
        tensor = torch.frombuffer(batch.ids, dtype=getattr(torch, dtype)).reshape(batch.ids.shape)
        tensor[0, 1] = 77
        assert batch.ids[0, 1] == 77  # the same memory
        assert torch.nn.functional.embedding(tensor[:1], torch.arange(200_020.0)[:, None]).flatten().tolist()[1] == 77.0
