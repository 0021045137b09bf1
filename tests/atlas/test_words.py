"""Sentences of passports, held to the numbers that they stand beside."""

from __future__ import annotations

import re

from attention.analysis.heads import MEASURES
from attention.atlas import (
    files,
    finding,
    look_words,
    loss_words,
    number_words,
    weight_words,
    words,
)
from attention.atlas.passport import Atlas, Kind, Mean, Passport
from attention.core.printing import listed
from tests.atlas.strategies import atlases
from tests.properties import given, settings

NUMBER = r"(−?\d+(?:\.\d+)?)"
SHARE = rf"{NUMBER} % \({NUMBER} to {NUMBER}\)"
POINTS = rf"{NUMBER} (?:points|%) \({NUMBER} to {NUMBER}\)"
COST = rf"{NUMBER} ± {NUMBER}"
QUOTED = re.compile("“.*?”")
ANSWERS = re.compile(r"(?i)\b(answer|probabilit|points?|los[et]|gain|predict|cost|nats?)")


def read(text: str) -> float:
    return float(text.replace("−", "-"))


def is_shown(text: str, value: float) -> None:
    """A number as a text shows it: no further off than its own last digit lets it be."""
    digits = len(text.partition(".")[2])
    assert abs(read(text) - value) <= 0.5 * 10**-digits + 1e-9, (text, value)


def is_share(texts: tuple[str, ...], found: Mean, sign: int = 100) -> None:
    """A mean with its interval; sign: -100 of a loss, whose ends change places."""
    low, high = sorted((sign * found.low, sign * found.high))
    for text, value in zip(texts, (sign * found.mean, low, high), strict=True):
        is_shown(text, value)


def matches(pattern: str, sentences: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The groups of the sentences that a pattern fits whole."""
    fits = (re.fullmatch(pattern, each, re.DOTALL) for each in sentences)
    return [found.groups() for found in fits if found]


def names_are_true(one: Passport, told: words.Said) -> None:
    nulls = rf"shuffled keys: {NUMBER} %; the untrained twin's best head: {NUMBER} %"
    holding = matches(
        rf"Looks (.+), with {NUMBER} % of its weight: on {SHARE} of (\d+) sentences; on (\d+) "
        rf"others: {SHARE}; {nulls}\.",
        told.looks,
    )
    failed = matches(
        rf"Seemed to look (.+), on {SHARE} of (\d+) sentences, but the check on (\d+) others "
        rf"failed: {SHARE}, (.+) \({nulls}\)\.",
        told.looks,
    )
    by_words = {look_words.place(name.name): name for name in one.names}
    assert len(holding) == sum(name.holds for name in one.names)
    assert len(failed) == sum(not name.holds for name in one.names)
    assert ("No name holds for it." in told.looks) == (not holding and bool(one.rows))
    assert (look_words.UNNAMED in told.looks) == (not holding and not one.rows)
    for place, weight, *told_found, count, others, mean, low, high, shuffled, untrained in holding:
        name = by_words[place]
        is_shown(weight, 100 * name.weight.mean)
        assert name.holds
        assert (int(count), int(others)) == (name.found.count, name.checked.count)
        is_share((*told_found,), name.found)
        is_share((mean, low, high), name.checked)
        is_shown(shuffled, 100 * name.shuffled)
        is_shown(untrained, 100 * name.untrained)
        assert read(mean) >= 50
    for place, *told_found, _, _, mean, low, high, reason, shuffled, untrained in failed:
        name = by_words[place]
        is_share((*told_found,), name.found)
        is_share((mean, low, high), name.checked)
        assert ("more than half" in reason) == (name.checked.mean <= 0.5)
        assert ("above shuffled keys" in reason) == (name.checked.low <= name.shuffled)
        assert ("the untrained twin" in reason) == (name.checked.low <= name.untrained)
        if "more than half" in reason:
            assert read(mean) <= 50
        is_shown(shuffled, 100 * name.shuffled)
        is_shown(untrained, 100 * name.untrained)


def measures_are_true(one: Passport, told: words.Said) -> None:
    pattern = (
        rf"{SHARE} of its weight lies on (.+), on other sentences {SHARE}; shuffled keys: "
        rf"{NUMBER} %; heads of the untrained twin: up to {NUMBER} %\."
    )
    by_words = {MEASURES[each.name].words: each for each in one.measures}
    for *found, on, mean, low, high, shuffled, untrained in matches(pattern, told.looks):
        each = by_words[on]
        is_share((*found,), each.found)
        is_share((mean, low, high), each.checked)
        is_shown(shuffled, 100 * each.shuffled.mean)
        is_shown(untrained, 100 * each.untrained.high)
        assert read(low) >= read(untrained) - 0.5
        assert all(name.name != each.name for name in one.names if name.holds)


def kinds_are_true(atlas: Atlas, one: Passport, told: words.Said) -> None:
    by_name = {loss_words.kind_words(kind): kind for kind in one.effects.kinds}
    vectors = loss_words.of_vectors(atlas)
    changes = "their vectors move by" if vectors else "the answer loses"
    need = matches(
        rf"Needed by (.+?): without it {changes} {POINTS} on average of (\d+), and {POINTS} of "
        r"(\d+) others\.( .+)?",
        told.fails,
    )
    assert {name for name, *_ in need} == {name for name, kind in by_name.items() if kind.needed}
    gain = matches(
        rf"Hinders (.+): without it the answer gains {POINTS} on average of (\d+), and {POINTS} of "
        r"(\d+) others\.",
        told.fails,
    )
    fell = matches(
        rf"Seemed needed by (.+), for {POINTS} on average of (\d+), but the check on (\d+) others "
        rf"failed: {POINTS}\.",
        told.fails,
    )
    for name, *found, count, mean, low, high, others, turned in need:
        kind = by_name[name]
        turned_is_true(kind, vectors, (turned or "").strip())
        assert (int(count), int(others)) == (kind.found.count, kind.checked.count)
        is_share((*found,), kind.found, -100)
        is_share((mean, low, high), kind.checked, -100)
        assert min(read(found[0]), read(mean)) >= 5
        assert min(read(found[1]), read(low)) >= 0
    for name, *found, _, mean, low, high, _ in gain:
        kind = by_name[name]
        is_share((*found,), kind.found)
        is_share((mean, low, high), kind.checked)
        assert min(read(found[1]), read(low)) >= 0
    for name, *found, _, _, mean, low, high in fell:
        kind = by_name[name]
        assert not kind.needed
        is_share((*found,), kind.found, -100)
        is_share((mean, low, high), kind.checked, -100)
        assert read(low) <= 0 or read(mean) <= 5
    opening = "The vectors of " if vectors else ""
    none = matches(rf"(?i){opening}(?:none of (\d+) kinds|the kind) of prompts .+\.", told.fails)
    assert len(none) == (not need and bool(by_name))
    assert all(int(count or 1) == len(by_name) for (count,) in none)


def turned_is_true(kind: Kind, vectors: bool, told: str) -> None:
    assert bool(told) == (kind.turned is not None)
    if kind.turned is None:
        return
    gains = not vectors and min(half.mean for half in kind.turned.halves) >= 0
    costs, alone = ("moves them", "moves them by") if vectors else ("costs", "costs")
    if gains:
        alone = "costs nothing on average: the answer gains"
    groups = re.fullmatch(
        rf"A change as large in one random direction ({costs} less:|{costs} as much:|{alone}) "
        rf"{POINTS}, and {POINTS} on the others\.( So this does not show that what the head writes "
        r"is what counts\.)?",
        told,
    )
    assert groups, told
    how, *points, so = groups.groups()
    assert ("gains" in how) == gains
    is_share((*points[:3],), kind.turned.found, 100 if gains else -100)
    is_share((*points[3:],), kind.turned.checked, 100 if gains else -100)
    assert ("as much" in how) == bool(so) <= kind.turned.needed
    assert ("less" in how) <= kind.turned.less
    if so:
        for turn, mean in zip(kind.turned.halves, kind.halves, strict=True):
            assert turn.mean <= mean.mean < 0
            assert turn.high < 0


def least_is_true(one: Passport, told: words.Said) -> None:
    kinds = {loss_words.kind_words(kind): kind for kind in one.effects.kinds}
    pattern = (
        rf".+ surely (?:loses? 5 points|move by 5 %) without it; (?:most is lost by (.+)|those of "
        rf"(.+) move most): {POINTS} on average of \d+, {POINTS} of \d+ others\."
    )
    for losing, moving, *found, mean, low, high in matches(pattern, told.fails):
        name = losing or moving
        is_share((*found,), kinds[name].found, -100)
        is_share((mean, low, high), kinds[name].checked, -100)
        both = [kind.found.mean + kind.checked.mean for kind in kinds.values()]
        assert kinds[name].found.mean + kinds[name].checked.mean == min(both)


def prompts_are_true(atlas: Atlas, one: Passport, told: words.Said) -> None:
    changed = (
        r"“([^“”]*)”, (?:“([^“”]*)”|its vector) "
        rf"(?:(loses|gains|moves by) {NUMBER} (?:points|%)|stays as it is)"
    )
    pattern = rf"Most hangs on it here: {changed}\.(?: Another one of that kind: {changed}\.)?"
    told_of = matches(pattern, told.fails)
    assert len(told_of) == bool(one.effects.hangs)
    for groups in told_of:
        places = (*one.effects.hangs[:1], *one.effects.controls[:1])
        for at, place in enumerate(places):
            text, answer, moves, points = groups[4 * at : 4 * at + 4]
            prompt, change = atlas.prompts[place], one.effects.by_mean[place]
            assert text == (prompt.text.strip("·▁ ") or prompt.text)
            assert (answer or "") == (prompt.answer.strip("·▁ ") or prompt.answer)
            assert (moves is None) == (abs(change) < 0.0005)
            if moves:
                sides = {"loses": [True], "gains": [False], "moves by": [True, False]}
                assert (change < 0) in sides[moves]
                is_shown(points, 100 * abs(change))


def zero_is_true(one: Passport, told: words.Said) -> None:
    by_name = {loss_words.kind_words(kind): kind for kind in one.effects.kinds}
    pattern = (
        rf"Zero misleads on (.+): set to zero it seems to (?:cost|move vectors by) {POINTS} on "
        rf"(\d+), set to its mean {NUMBER} and {NUMBER}\."
    )
    found = matches(pattern, told.fails)
    assert {name for name, *_ in found} == {
        name for name, kind in by_name.items() if misleads(kind)
    }
    for name, mean, low, high, count, one_half, other in found:
        kind = by_name[name]
        assert kind.by_zero is not None
        assert int(count) == kind.by_zero.count
        is_share((mean, low, high), kind.by_zero, -100)
        is_shown(one_half, -100 * kind.found.mean)
        is_shown(other, -100 * kind.checked.mean)
        assert read(low) + 0.5 >= max(read(one_half), read(other))


def misleads(kind: Kind) -> bool:
    """Zero takes at least 5 points more than the mean, and its interval lies beyond both others."""
    if kind.by_zero is None:
        return False
    clear = all(kind.by_zero.high < each.low for each in (kind.found, kind.checked))
    return clear and min(kind.found.mean, kind.checked.mean) - kind.by_zero.mean >= 0.05


def cost_is_true(atlas: Atlas, one: Passport, told: words.Said) -> None:
    cost, (sentence, *zero) = one.effects.elsewhere, told.elsewhere
    size, unit = (100, " %") if loss_words.of_vectors(atlas) else (1, "")
    shown = re.findall(COST + unit, sentence)
    assert len(shown) == 2
    less = "less" in sentence
    for (mean, width), half in zip(shown, (cost.found, cost.checked), strict=True):
        is_shown(mean, size * half.mean * (-1 if less else 1))
        is_shown(width, size * (half.high - half.low) / 2)
    assert re.findall(r"\b\d+\b(?! ?[%.])(?= other| more| cost)", sentence) == [
        f"{half.count}" for half in (cost.found, cost.checked)
    ]
    if loss_words.of_vectors(atlas):
        return
    assert less == sentence.startswith("Other sentences even gain") == (cost.sure < 0)
    assert sentence.startswith("Other sentences need it too") == (cost.sure > 0)
    assert sentence.endswith("nothing sure.") <= (cost.sure == 0)
    if "may even gain" in sentence:
        assert max(read(mean) for mean, _ in shown) < 0
    if zero:
        by_zero = one.effects.elsewhere_by_zero
        for (mean, _), half in zip(
            re.findall(COST, zero[0]), (by_zero.found, by_zero.checked), strict=True
        ):
            is_shown(mean, half.mean)
        assert by_zero.found.low > cost.found.high
        assert by_zero.checked.low > cost.checked.high


def weights_are_true(one: Passport, told: words.Said) -> None:
    circuit = one.circuit
    if circuit is None:
        assert told.weights == ("Its weights were not read through the vocabulary.",)
        return
    first, *more = told.weights
    value, low, high = re.findall(
        rf"{NUMBER} of −1 to 1; random matrices: {NUMBER} to {NUMBER}\.", first
    )[0]
    for text, number in zip(
        (value, low, high),
        (circuit.copying.value, circuit.copying.low, circuit.copying.high),
        strict=True,
    ):
        is_shown(text, number)
    copied, suppressed = (
        each.value > max(each.high, 0.05) for each in (circuit.copied, circuit.suppressed)
    )
    if "weights copy" in first:
        assert copied
        assert read(value) >= max(0, read(high))
    elif "weights suppress" in first:
        assert suppressed
        assert read(value) <= min(0, read(low))
    else:
        copying = circuit.copying
        inside = copying.low <= copying.value <= copying.high
        across = copying.value * (copying.value - copying.mean) <= 0
        leans = "lean to copying" in first, "lean to suppressing" in first
        assert leans == (
            copying.value > max(0, copying.high) and not copied,
            copying.value < min(0, copying.low) and not suppressed,
        )
        assert inside or across or any(leans)
    for moved, against in (("raises", circuit.copied), ("lowers", circuit.suppressed)):
        pattern = rf"Of {NUMBER} % of the sampled pieces it {moved} .*: {NUMBER} to {NUMBER} %\."
        found = matches(pattern, (*more,))
        assert len(found) == (against.value > against.high and against.value >= 0.01)
        for numbers in found:
            for text, number in zip(
                numbers, (against.value, against.low, against.high), strict=True
            ):
                is_shown(text, 100 * number)
    reading = [each for each in more if each.startswith("A direction")]
    telling = [each for each in circuit.directions if each.tells.value > each.tells.high]
    assert len(reading) == min(len(telling), weight_words.DIRECTIONS_NAMED)
    for sentence, each in zip(reading, telling, strict=False):
        is_shown(re.findall(rf"of {NUMBER} %", sentence)[0], 100 * each.strength)
        assert number_words.quoted(each.reads[0]) in sentence.partition("; it raises")[0]
        assert number_words.quoted(each.writes[0]) in sentence.partition("; it raises")[2]


def kin_is_true(one: Passport, told: words.Said) -> None:
    alike = [
        each
        for each in one.alike
        if each.found.low > each.chance and each.checked.low > each.chance
    ]
    found = matches(
        rf"Looks( in part|) as (.+) does: correlation {NUMBER} \({NUMBER} to {NUMBER}\), on other "
        rf"sentences {NUMBER}; untrained heads: up to {NUMBER}\.",
        told.kin,
    )
    assert len(found) == min(len(alike), weight_words.KIN_NAMED)
    assert ("No head looks at the same words beyond chance." in told.kin) == (not alike)
    for (part, name, *correlation, checked, chance), each in zip(found, alike, strict=False):
        assert bool(part) == (min(each.found.mean, each.checked.mean) ** 2 < 0.5)
        assert name.endswith(f"{each.layer}.{each.head}")
        is_share((*correlation,), each.found, 1)
        is_shown(checked, each.checked.mean)
        is_shown(chance, each.chance)
        assert min(read(correlation[1]), read(checked)) >= read(chance)
    pattern = (
        rf"(?:Reads|Writes|Matches words|Asks)( in part|) .+: (overlap|cosine|composition score) "
        rf"{NUMBER}; random (?:subspaces|matrices): {NUMBER} to {NUMBER}\."
    )
    near = matches(pattern, told.kin)
    above = {each.side for each in one.near if each.overlap.value > each.overlap.high}
    assert len(near) == len(above)
    for part, measure, value, low, high in near:
        assert read(value) >= read(high) >= read(low)
        size = read(value) if measure == "overlap" else read(value) ** 2
        assert size <= 0.501 if part else size >= 0.499


def rest_is_true(one: Passport, told: words.Said) -> None:
    assert len(told.unexplained) == 2
    for sentence, mean in zip(told.unexplained, (one.unexplained, one.sink), strict=True):
        is_share(re.findall(SHARE, sentence)[0], mean)


def title_is_true(atlas: Atlas, one: Passport, told: words.Said) -> None:
    title = told.title
    assert title.endswith(".")
    assert len(title) <= 160
    assert "\n" not in title
    holding = [name for name in one.names if name.holds]
    telling = [name for name in holding if name.name not in ("first", "separator")]
    needing = [loss_words.kind_words(kind) for kind in one.effects.kinds if kind.needed]
    assert title.startswith("Looks ") == bool(telling)
    assert ("eeded by " in title) == bool(needing)
    if telling:
        best = max(name.checked.mean for name in telling)
        told_of = [
            name
            for name in telling
            if name.checked.mean == best and look_words.place(name.name) in title
        ]
        assert told_of
        if "of its weight" not in title:
            assert any(name.weight.mean >= 0.5 for name in told_of)
    if title.startswith("Rests "):
        assert holding
    if needing:
        named = re.split("[Nn]eeded by ", title.removesuffix("."))[1]
        more = re.search(r"(\d+) more kinds$", named)
        told_of = [kind for kind in needing if kind.lower() in named.lower()]
        assert len(told_of) >= min(len(needing), words.KINDS_NAMED)
        if more:
            assert int(more[1]) == len(needing) - words.KINDS_NAMED
        else:
            assert listed(needing) == named
    if title == "Other sentences need it.":
        assert one.effects.elsewhere.sure > 0
    if title == "Other sentences gain without it.":
        assert one.effects.elsewhere.sure < 0
    if "check failed" in title:
        assert one.names
        assert not holding


def sentences_are_true(atlas: Atlas) -> None:
    for one in atlas.passports:
        told = words.said(atlas, one)
        assert told.sentences[0] == told.title
        names_are_true(one, told)
        measures_are_true(one, told)
        kinds_are_true(atlas, one, told)
        least_is_true(one, told)
        prompts_are_true(atlas, one, told)
        zero_is_true(one, told)
        cost_is_true(atlas, one, told)
        weights_are_true(one, told)
        kin_is_true(one, told)
        rest_is_true(one, told)
        title_is_true(atlas, one, told)


@settings(max_examples=60)
@given(atlases())
def test_sentences_of_any_passport_are_true_for_its_numbers(atlas: Atlas) -> None:
    sentences_are_true(atlas)


def test_sentences_of_every_packaged_passport_are_true_for_its_numbers() -> None:
    atlases = [files.read(path) for path in files.packaged().values()]
    for atlas in atlases:
        sentences_are_true(atlas)


def test_no_sentence_on_a_head_of_a_model_of_vectors_speaks_of_an_answer() -> None:
    atlas = files.read(files.packaged()["minilm"])
    index = finding.Index([atlas])
    sought = {word for text in atlas.prompts for word in text.text.split()}
    for one in atlas.passports:
        told = words.said(atlas, one).sentences
        told += [claim.say() for claim in finding.claims(atlas, one)]
        assert not [each for each in told if ANSWERS.search(QUOTED.sub("", each))]
    whys = {hit.why for word in sought for hit in index.found(word)}
    assert len(whys) > len(atlas.passports)
    assert not [each for each in whys if ANSWERS.search(QUOTED.sub("", each))]
