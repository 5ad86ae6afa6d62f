"""SentencePiece's table of replacements, made from rules: for tests."""

import struct


def charsmap(rules):
    """Return the bytes of a table {old text: new text}: the length of the trie, a double array over the old texts' bytes, the new texts."""
    texts = b"".join(new.encode() + b"\0" for new in rules.values())
    places, at = {}, 0
    for old, new in rules.items():
        places[old.encode()], at = at, at + len(new.encode()) + 1
    units, taken, bases = {0: 0}, {0}, set()

    def fill(node, prefix):
        labels = {key[len(prefix)] for key in places if key.startswith(prefix) and len(key) > len(prefix)}
        if prefix in places:
            labels.add(0)
        base = next(b for b in range(1, 1 << 20) if b not in bases and not any(b ^ label in taken for label in labels))
        bases.add(base)
        taken.update(base ^ label for label in labels)
        units[node] = units.get(node, 0) | (node ^ base) << 10 | (0x100 if prefix in places else 0)
        for label in sorted(labels):
            units[base ^ label] = label or 1 << 31 | places[prefix]
            if label:
                fill(base ^ label, prefix + bytes([label]))

    fill(0, b"")
    size = (max(units) // 256 + 1) * 256
    trie = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return struct.pack("<I", len(trie)) + trie + texts
