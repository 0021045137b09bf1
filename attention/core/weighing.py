"""Facts and words on the step that makes weights of scores, for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weighing:
    """Facts and words on the step that makes weights of scores.

    name: of the operation, in a word, "" where the scores stay; formula: LaTeX for w_{ij}, with
    m_{ij} for the scores; words: a clause that says it; why: a sentence on the stage, "" = that
    clause; shares: whether no weight is below 0 and each row sums to 1, or is 0 throughout; signed:
    whether weights may lie below 0; hides_by_zero: whether a hidden score becomes 0, not −∞.
    """

    name: str
    formula: str
    words: str
    why: str = ""
    shares: bool = False
    signed: bool = False
    hides_by_zero: bool = False

    @property
    def sentence(self) -> str:
        """Sentence on the stage."""
        return self.why or f"{self.words[:1].upper()}{self.words[1:]}."


SOFTMAX = Weighing(
    "softmax",
    r"w_{ij} = \frac{e^{m_{ij}}}{\sum_k e^{m_{ik}}}",
    "the softmax makes weights of the scores",
    "The softmax turns each row of scores into shares: how a query splits its attention over the "
    "keys.",
    shares=True,
)
MIXED = Weighing(
    "softmax, mixing",
    r"w_{ij} = \sum_g P_w^{gh} \frac{e^{m^g_{ij}}}{\sum_k e^{m^g_{ik}}}",
    "the softmax makes shares of the scores, which are mixed across heads",
    "These weights are mixed of the shares of all heads: one below 0 takes its value away from the "
    "output.",
    signed=True,
)
UNNORMED = Weighing(
    "",
    r"w_{ij} = m_{ij}",
    "without a softmax the scores, as far as they are not forgotten, are the weights",
    "These weights are no shares: one below 0 takes its value away from the output.",
    signed=True,
    hides_by_zero=True,
)
