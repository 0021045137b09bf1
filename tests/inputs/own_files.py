"""Vector files that an owner may have, each with what is said of it where it cannot be read."""

from __future__ import annotations

import gzip

THREE_WORDS = "cat 1 -2 3\ndog 0.5 0 -1e-2\nnaïve 7 11 13\n"
ZIPPED = gzip.compress(THREE_WORDS.encode(), mtime=0)
MANY = b" 0.5" * 100_000
FINITE = "must be finite, and at most 1,000,000 either way, got"
OF_3 = "it must be 3 to 1,024"
THOSE = "after its word, those before it"
BROKEN = {
    "empty.txt": (b"", "it has no words"),
    "blank.txt": (b"\n\n", f"line 1 has 0 numbers after its word; {OF_3}"),
    "header.txt": (b"3 4\n", "it has no words"),
    "words.txt": (b"hello\nworld\n", f"line 1 has 0 numbers after its word; {OF_3}"),
    "one.txt": (b"cat 1\ndog 2\n", f"line 1 has 1 number after its word; {OF_3}"),
    "one-said.txt": (b"2 1\ncat 1\ndog 2\n", f"line 1 says 1 number for each word; {OF_3}"),
    "two.txt": (b"cat 1 2\ndog 2 3\n", f"line 1 has 2 numbers after its word; {OF_3}"),
    "tabs.txt": (b"cat\t1\t2\t3\n", f"line 1 has 0 numbers after its word; {OF_3}"),
    "ragged.txt": (b"cat 1 2 3\ndog 1 2\n", f"line 2 has 2 numbers {THOSE} 3"),
    "gap.txt": (b"cat 1 2 3\n\ndog 1 2 3\n", f"line 2 has 0 numbers {THOSE} 3"),
    "late.txt": (b"cat 1 2 3\n3 1\n", f"line 2 has 1 number {THOSE} 3"),
    "wordless.txt": (b"cat 1 2 3\n 1 2 3\n", "line 2 has no word before its numbers"),
    "cut.txt": (b"3 3\ncat 1 2 3\n", "line 1 says 3 words, 1 are there: is the file whole?"),
    "wrong-header.txt": (b"1 4\ncat 1 2 3\n", f"line 2 has 3 numbers {THOSE} 4"),
    "letters.txt": (b"cat 1 two 3\n", f"number 2 of line 1 {FINITE} 'two'"),
    "nan.txt": (b"cat 1 2 3\ndog 1 2 nan\n", f"number 3 of line 2 {FINITE} 'nan'"),
    "infinite.txt": (b"cat 1 2 3\ndog -inf 2 inf\n", f"number 1 of line 2 {FINITE} '-inf'"),
    "huge.txt": (b"cat 1 2 3\ndog 1 1e39 -1e39\n", f"number 2 of line 2 {FINITE} '1e39'"),
    "spaces.txt": (b"cat 1  2 3\n", f"number 2 of line 1 {FINITE} ''"),
    "bytes.txt": (b"cat 1 \xff\x00\x1b[31m 3\n", f"number 2 of line 1 {FINITE} '\\\\xff"),
    "wide.txt": (b"1 100000\ncat" + MANY, "line 1 says 100,000 numbers for each word; it must be"),
    "wide-unsaid.txt": (b"cat" + MANY, "line 1 has more than 65,536 bytes and 1,024 numbers;"),
    "endless.txt": (b"x" * 100_000, "line 1 has more than 65,536 bytes and 1,024 numbers; it must"),
    "utf16.txt": (THREE_WORDS.encode("utf-16"), "it is in UTF-16; save it as UTF-8"),
    "latin.txt": ("é 1 2 3\nà 1 2 3\n".encode("latin-1"), "none of its words is UTF-8"),
    "plain.gz": (b"not zipped", "it cannot be read after line 0: Not a gzipped file"),
    "cut.gz": (ZIPPED[:-9], "it cannot be read after line "),
    "damaged.gz": (ZIPPED[:10] + b"\xff" * 20, "it cannot be read after line 0: "),
}
