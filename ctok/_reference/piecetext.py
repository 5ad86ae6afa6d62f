"""Ids of a SentencePiece model to text, slowly: the oracle of `stages.sentencepiece.build_piece_decoder`, and what it promises."""

from .decode import cells

SPACE = "\u2581"
UNKNOWN, CONTROL, BYTE = 2, 3, 6


def decode(record, pieces, ids, *, skip_special=False, errors="replace"):
    """Return the text of `ids`.

    `record` is a `stagespecs.sentencepiece.Decoder` without a denormalizer; `pieces` is a list of (text, type) by id.
    """
    return "".join(parts(record, pieces, ids, skip_special=skip_special, errors=errors))


def parts(record, pieces, ids, *, skip_special=False, errors="replace"):
    """Return the text piece by piece: of a row of bytes together, of any other id by itself."""
    shown = [pieces[k] for k in ids if not (skip_special and pieces[k][1] in (UNKNOWN, CONTROL))]
    found, run, dropped = [], b"", False
    at_start = record.add_dummy_prefix or record.remove_extra_whitespaces
    for text, kind in [*shown, ("", CONTROL)]:
        if kind == BYTE:
            run += bytes([int(text[3:5], 16)])
            continue
        found += [cell.text for cell in cells(run, True, errors)]
        run = b""
        at_start = at_start and not dropped and not any(found)
        dropped = False
        if kind == UNKNOWN:
            found.append(record.unk_surface)
        elif kind != CONTROL:
            dropped = at_start and text.startswith(SPACE) and not record.remove_extra_whitespaces
            found.append((text.removeprefix(SPACE) if at_start else text).replace(SPACE, " "))
    return found
