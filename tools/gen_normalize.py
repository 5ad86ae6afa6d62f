"""Write csrc/ctok_normal_data.h: what the normalizers of the reference library do to every character.

    python tools/gen_normalize.py            write the file
    python tools/gen_normalize.py --check    exit with 1 when the committed file is not what would be written

Everything is asked of the installed package `tokenizers` (its version is stamped into the file), never taken from a Unicode database:
the library's parts follow different and partly old versions of Unicode. All 1,112,064 scalars go through every question. The only
outside help are representatives: one character for each combining class, from the package unicodedata2.

What is frozen: decompositions, lower case, combining classes, composing pairs, the sets that are dropped or made a blank, and the
properties by which text is cut into grapheme clusters, as far as they can be told from outside.
"""

import argparse
import struct
import sys
from pathlib import Path

import tokenizers
import unicodedata2
from tokenizers import normalizers as ref

TARGET = Path(__file__).resolve().parent.parent / "csrc" / "ctok_normal_data.h"
PAGE = 64
BATCH = 20000
SCALARS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)

# Bits of a record, as in ctok_normal_facts.h.
MARK, MN, BERT_DROP, BERT_SPACE, NMT_DROP, NMT_SPACE, WHITE, CJK, PAIR_FIRST, PAIR_SECOND, LV, LVT, NFC_NO, NFKC_NO = (
    1 << i for i in range(14)
)
PICTOGRAPH, LINKER, CONSONANT, INCB_EXTEND = (1 << i for i in range(14, 18))
CLUSTER_SHIFT = 18
OTHER, CR, LF, CONTROL, EXTEND, ZWJ, PREPEND, SPACING, JAMO_L, JAMO_V, JAMO_T, SYLLABLE_LV, SYLLABLE_LVT = range(13)


def ask(normalizer, template="{}", chars=SCALARS, between="\n"):
    """Return what a normalizer makes of `template` with each of the characters in it; `between` keeps the answers apart."""
    found = {}
    for start in range(0, len(chars), BATCH):
        some = chars[start : start + BATCH]
        cleaned = [char if char != between else "" for char in some]
        answers = normalizer.normalize_str(between.join(template.replace("{}", char) for char in cleaned)).split(between)
        if len(answers) != len(some):
            raise SystemExit(f"{normalizer}: {len(answers)} answers for {len(some)} characters")
        found.update(zip(some, answers, strict=True))
    return found


def changed(answers):
    return {char: answer for char, answer in answers.items() if answer != char and char not in "\n|"}


# ---- forms ----


def combining_classes():
    """Return {character: combining class} for the classes that are not 0: by which marks a mark changes places with."""
    nfd = ref.NFD()
    whole = changed(ask(nfd))
    moved = {char for char, answer in ask(nfd, "\u0345{}").items() if char not in whole and answer != "\u0345" + char}
    moved |= {char for char, answer in ask(nfd, "{}\u0334").items() if char not in whole and answer != char + "\u0334"}
    moved = moved - {"\n"} | {"\u0334", "\u0345"}
    marks = sorted(moved)
    some = {}
    for mark in marks:
        some.setdefault(unicodedata2.combining(mark), mark)
    classes = {}
    for value, one in sorted(some.items()):
        later = ask(nfd, "{}" + one, marks)  # changed: the mark's class is above `value`
        sooner = ask(nfd, one + "{}", marks)  # changed: below
        for mark in marks:
            if later[mark] == mark + one and sooner[mark] == one + mark:
                classes[mark] = value
    if set(classes) != moved or 0 in some:
        raise SystemExit("a mark belongs to none of the known combining classes")
    return classes


def composing_pairs(nfd):
    """Return {(first, second): composite} without Hangul syllables."""
    compose = ref.NFC().normalize_str
    pairs = {}
    for char, parts in nfd.items():
        if ord(char) in HANGUL or len(parts) < 2:
            continue
        first, second = compose(parts[:-1]), parts[-1]
        if len(first) == 1 and compose(first + second) == char:
            pairs[first, second] = char
    return pairs


def check_hangul(nfd):
    """The syllables follow the arithmetic of the Unicode Standard, section 3.12, both ways."""
    compose = ref.NFC().normalize_str
    for code in HANGUL:
        lead, rest = divmod(code - 0xAC00, 588)
        vowel, tail = divmod(rest, 28)
        parts = chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")
        if nfd.get(chr(code)) != parts or compose(parts) != chr(code) or compose(chr(code - tail) + parts[2:]) != chr(code):
            raise SystemExit(f"Hangul U+{code:04X} is not arithmetic")
    if compose("\uac00\u11a7") != "\uac00\u11a7":
        raise SystemExit("U+11A7 composes")


# ---- grapheme clusters ----


def charsmap(rules):
    """Return the bytes of a SentencePiece replacement table: length of the trie, a double array over the keys' bytes, the new texts."""
    texts = b"".join(new.encode() + b"\0" for new in rules.values())
    places, at = {}, 0
    for old, new in rules.items():
        places[old.encode()], at = at, at + len(new.encode()) + 1
    units, taken, bases = {0: 0}, {0}, set()

    def fill(node, prefix):
        labels = {key[len(prefix)] for key in places if key.startswith(prefix) and len(key) > len(prefix)}
        labels |= {0} if prefix in places else set()
        base = next(b for b in range(1, 1 << 20) if b not in bases and not any(b ^ label in taken for label in labels))
        bases.add(base)
        taken.update(base ^ label for label in labels)
        units[node] = units.get(node, 0) | (node ^ base) << 10 | (0x100 if prefix in places else 0)
        for label in sorted(labels):
            if label == 0:
                units[base] = 1 << 31 | places[prefix]
            else:
                units[base ^ label] = label
                fill(base ^ label, prefix + bytes([label]))

    fill(0, b"")
    size = (max(units) // 256 + 1) * 256
    trie = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return struct.pack("<I", len(trie)) + trie + texts


def joined(rules, template, whole, apart):
    """Return the characters for which the template gives `whole` (they join the cluster under question), not `apart`."""
    answers = ask(ref.Precompiled(charsmap(rules)), template)
    found = set()
    for char, answer in answers.items():
        if answer == whole.replace("{}", char):
            found.add(char)
        elif answer != apart.replace("{}", char) and char not in rules and char != "\n":
            raise SystemExit(f"{template!r} of U+{ord(char):04X} gives {answer!r}")
    return found


def cluster_facts():
    """Return {character: (cluster class, bits)}, by experiments with replacement tables.

    The library asks its table about a whole cluster when that has less than six bytes, and gives the answer for its first character; so
    a mark that belongs to "a" vanishes when "a" has an entry. In longer clusters each character is asked about by itself.
    """
    mark, a, picture, virama, ka = "\u0308", {"a": "X"}, "\u00a9", "\u094d", "\u0915"
    extends = joined(a, "a{}", "X", "X{}")
    starts_no_mark = joined({mark: "Z"}, "{}" + mark + mark, "{}Z", "{}ZZ") - {mark}
    prepends = joined(a, "{}a" + mark, "{}X" + mark, "{}X")
    before_v = joined({"\u1161": "V"}, "{}\u1161" + mark, "{}V" + mark, "{}V") - prepends
    before_t = joined({"\u11a8": "T"}, "{}\u11a8" + mark, "{}T" + mark, "{}T") - prepends
    pictures = joined({picture: "Q"}, picture + "\u200d{}", "Q\u200d{}", "Q{}") - extends
    in_picture = joined({picture: "Q"}, picture + "{}\u200d" + picture + mark, "Q{}\u200dQ" + mark, "Q{}\u200dQ") & extends
    linkers = joined({ka: "K"}, ka + "\u200d{}" + ka + mark, "K\u200d{}K" + mark, "K\u200d{}K") & extends
    consonants = joined({ka: "K"}, "{}" + virama + ka + mark, "{}" + virama + "K" + mark, "{}" + virama + "K") - prepends
    incb = joined({ka: "K"}, ka + virama + "{}" + ka + mark, "K" + virama + "{}K" + mark, "K" + virama + "{}K") & extends
    facts = {}
    for char in SCALARS:
        bits = (PICTOGRAPH if char in pictures else 0) | (LINKER if char in linkers else 0)
        bits |= (CONSONANT if char in consonants else 0) | (INCB_EXTEND if char in incb else 0)
        facts[char] = (cluster_class(char, extends, in_picture, prepends, starts_no_mark, before_v, before_t), bits)
    for key, like in ((mark, "\u0300"), ("a", "b"), ("\u1161", "\u1162"), ("\u11a8", "\u11a9"), (picture, "\u00ae"), (ka, "\u0916")):
        facts[key] = facts[like]  # what stands in the tables answers for itself
    for char, kind in (("\r", CR), ("\n", LF)):
        facts[char] = (kind, facts[char][1])
    return facts


def cluster_class(char, extends, in_picture, prepends, starts_no_mark, before_v, before_t):
    if char == "\u200d":
        return ZWJ
    if char in extends:
        return EXTEND if char in in_picture else SPACING
    if char in prepends:
        return PREPEND
    if char in starts_no_mark:
        return CONTROL
    if char in before_v and char in before_t:
        return SYLLABLE_LV if ord(char) in HANGUL else JAMO_V
    if char in before_v:
        return JAMO_L
    if char in before_t:
        return SYLLABLE_LVT if ord(char) in HANGUL else JAMO_T
    return OTHER


# ---- all facts of a character ----


def sets():
    """Return {bit: characters} of what is dropped, made a blank, or set apart."""
    bert = ref.BertNormalizer
    clean = ask(bert(True, False, False, False), between="|")
    nmt = ask(ref.Nmt(), between="|")
    apart = ask(bert(False, True, False, False))
    accents = ask(bert(False, False, True, False))
    nfd = ask(ref.NFD())
    strip = ref.Strip().normalize_str
    found = {
        BERT_DROP: {c for c, t in clean.items() if t == "" and c != "|"},
        BERT_SPACE: {c for c, t in clean.items() if t == " "} - {" "},
        NMT_DROP: {c for c, t in nmt.items() if t == "" and c != "|"},
        NMT_SPACE: {c for c, t in nmt.items() if t == " "} - {" "},
        CJK: {c for c, t in apart.items() if t == f" {c} "},
        MN: {c for c, t in accents.items() if t == "" and nfd[c] == c and c != "\n"},
        MARK: {c for c, t in ask(ref.StripAccents()).items() if t == "" and c != "\n"},
        WHITE: {c for c in SCALARS if strip(c) == ""},
    }
    for answers, drop, space in ((clean, BERT_DROP, BERT_SPACE), (nmt, NMT_DROP, NMT_SPACE)):
        odd = set(changed(answers)) - found[drop] - found[space]
        if odd:
            raise SystemExit(f"neither dropped nor blank: {odd!r}")
    odd = {c for c in changed(apart) if c not in found[CJK]}
    odd |= {c for c, t in accents.items() if t != "".join(x for x in nfd[c] if x not in found[MN]) and c != "\n"}
    odd |= {c for c, t in ask(bert(False, False, False, True)).items() if t != LOWER.get(c, c) and c != "\n"}
    if odd:
        raise SystemExit(f"not as assumed: {sorted(odd)!r}")
    return found


LOWER = {}


def collect():
    """Return (records of all scalars, pool of texts, pairs); a record is (bits, class, nfd, nfkd, lower) with places in the pool."""
    nfd, nfkd, nfc, nfkc = (changed(ask(form())) for form in (ref.NFD, ref.NFKD, ref.NFC, ref.NFKC))
    LOWER.update(changed(ask(ref.Lowercase())))
    check_hangul(nfd)
    classes, pairs, members, clusters = combining_classes(), composing_pairs(nfd), sets(), cluster_facts()
    members[LV] = {chr(c) for c in HANGUL if (c - 0xAC00) % 28 == 0}
    members[PAIR_FIRST] = {first for first, _ in pairs} | {chr(c) for c in range(0x1100, 0x1113)} | members[LV]
    members[PAIR_SECOND] = {second for _, second in pairs} | {chr(c) for c in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    members[LVT] = {chr(c) for c in HANGUL} - members[LV]
    members[NFC_NO], members[NFKC_NO] = set(nfc), set(nfkc)
    pool = Pool()
    records = {}
    for char in SCALARS:
        bits = sum(bit for bit, chars in members.items() if char in chars)
        cluster, more = clusters[char]
        hangul = ord(char) in HANGUL
        texts = ["" if hangul else nfd.get(char, ""), "" if hangul else nfkd.get(char, ""), LOWER.get(char, "")]
        places = [pool.place(text) if text else 0 for text in texts]
        records[ord(char)] = (bits | more | cluster << CLUSTER_SHIFT, classes.get(char, 0), *places)
    return records, pool, pairs


class Pool:
    """Texts, each behind its length in bytes; place 0 says that there is none."""

    def __init__(self):
        self.data = bytearray(1)
        self.known = {}

    def place(self, text):
        if text not in self.known:
            self.known[text] = len(self.data)
            encoded = text.encode()
            self.data += bytes([len(encoded)]) + encoded
        return self.known[text]


# ---- the file ----


def two_levels(records):
    """Return (number of each page, pages, distinct records, a code point of each record)."""
    distinct, sample, numbers, pages = {}, [], [], {}
    surrogate = (CONTROL << CLUSTER_SHIFT, 0, 0, 0, 0)
    for start in range(0, 0x110000, PAGE):
        page = []
        for code in range(start, start + PAGE):
            record = records.get(code, surrogate)
            if record not in distinct:
                distinct[record] = len(distinct)
                sample.append(code)
            page.append(distinct[record])
        numbers.append(pages.setdefault(tuple(page), len(pages)))
    return numbers, list(pages), list(distinct), sample


def array(kind, name, values):
    lines, line = [], ""
    for value in values:
        if len(line) > 140:
            lines.append(line)
            line = ""
        line += f"{value},"
    lines.append(line.rstrip(","))
    return f"{'static ' if name.startswith('ctok_nf_pair') else ''}const {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def build():
    return write(*collect())


def write(records, pool, pairs):
    numbers, pages, distinct, sample = two_levels(records)
    if len(pool.data) > 0xFFFF or len(distinct) > 0xFFFF or len(pages) > 0xFFFF:
        raise SystemExit("the tables outgrow 16 bits")
    listed = sorted((ord(a), ord(b), ord(c)) for (a, b), c in pairs.items())
    head = f"""/* ctok_normal_data.h - what normalizers do to each character. Generated by tools/gen_normalize.py from tokenizers
 * {tokenizers.__version__}; do not edit.
 *
 * What the arrays hold says ctok_normal_facts.h. A page has {PAGE} code points.
 */
#define CTOK_NF_N_PAIRS {len(listed)}
"""
    parts = [
        head,
        f"const uint32_t ctok_nf_n_records = {len(distinct)};\n",
        array("uint16_t", "ctok_nf_index", numbers),
        array("uint16_t", "ctok_nf_pages", [number for page in pages for number in page]),
        array("uint32_t", "ctok_nf_bits", [r[0] for r in distinct]),
        array("uint8_t", "ctok_nf_class", [r[1] for r in distinct]),
        array("uint16_t", "ctok_nf_nfd", [r[2] for r in distinct]),
        array("uint16_t", "ctok_nf_nfkd", [r[3] for r in distinct]),
        array("uint16_t", "ctok_nf_lower", [r[4] for r in distinct]),
        array("uint32_t", "ctok_nf_sample", sample),
        array("uint8_t", "ctok_nf_pool", list(pool.data)),
        array("uint32_t", "ctok_nf_pair_first", [p[0] for p in listed]),
        array("uint32_t", "ctok_nf_pair_second", [p[1] for p in listed]),
        array("uint32_t", "ctok_nf_pair_result", [p[2] for p in listed]),
    ]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the committed file is up to date")
    check = parser.parse_args().check
    text = build()
    if not check:
        TARGET.write_text(text, encoding="utf-8")
        return
    if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET} is not what tools/gen_normalize.py writes")


if __name__ == "__main__":
    main()
