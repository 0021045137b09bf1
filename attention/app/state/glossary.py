"""The words and symbols of the pages, each explained in a sentence."""

GLOSSARY = {
    "token": "A word of the sentence, or a piece of one where a trained model cut it.",
    "vector": "A row of numbers that stands for a word.",
    "dimension": "One of the numbers of a vector.",
    "dot product": "Multiply two rows number by number, then add everything up.",
    "cosine": "The dot product of two vectors made length 1: 1 where they point the same way, 0 "
    "where they have nothing in common, −1 where they point in opposite directions.",
    "query": "The vector with which a token looks at the others. Rows are queries.",
    "key": "The vector that queries are matched with. Columns are keys.",
    "value": "The vector that a token passes on to those that look at it.",
    "score": "How well a query matches a key, before the softmax.",
    "scale": "The number that all scores are multiplied by before the softmax: for dot products "
    "usually 1/√d_k, so that long vectors do not give nearly all weight to one key.",
    "softmax": "exp of each score, divided by the sum of these over the row: shares above 0 that "
    "add up to 1.",
    "weight": "The share of a query's attention that a key gets. After the softmax each row of "
    "weights adds up to 1, or is all 0 where the mask hides every key. Without a softmax "
    "it need not.",
    "mask": "Which keys a query may look at. Hidden scores count as −∞, so their weight is 0.",
    "entropy": "How evenly a row of weights is spread, in bits: 0 if one key has it all, and H "
    "bits as if 2^H keys shared it evenly.",
    "even spread": "The same weight for every key that a query may see.",
    "temperature": "The number that scores are divided by before the softmax: below 1 rows get "
    "sharper, above 1 flatter.",
    "y": "The new vector of a token: the sum of all values, each times its weight.",
    "Σ": "The sum of all that stands in its row or column.",
    "‖·‖": "The length of a vector: the square root of the sum of its squared numbers.",
    "share of y": "How far a term w·v reaches along y, over the length of y. Shares add up to "
    "100 %; one below 0 pulls against y.",
    "rounding error": "How far two ways to the same number lie apart: where both are right, by "
    "rounding alone. Numbers here have some seven digits.",
    "d_model": "How many numbers the vector of a token has.",
    "d_k": "How many numbers a query and a key have.",
    "d_v": "How many numbers a value has.",
    "W_q, W_k, W_v": "The matrices that make queries, keys and values from the vectors.",
    "W_o": "The matrix that joins the outputs of all heads into one vector.",
    "W_QK": "The product of a head’s W_q and W_k: where it looks.",
    "W_OV": "The product of a head’s W_v and its part of W_o: the vector it moves.",
    "head": "One of several attentions that run side by side, each with queries of its own, and "
    "with keys and values of its own or of its group of heads.",
    "seed": "Which random numbers are drawn. Parameters with a seed are random and untrained: "
    "their weights say nothing about language.",
    "divergence": "Jensen–Shannon divergence: how much two rows of weights differ, in bits: 0 if "
    "they are equal, 1 if they share no key.",
    "positions": "Numbers that tell attention where a token stands. Without them, and without a "
    "mask, a decay or erasing, the weight between two words is the same in any order of the words.",
    "residual path": "The vector that came into a layer, and is added to the output of attention.",
    "association": "How strongly one word influences another, as a method estimates it.",
    "erasure": "Hide a word, then measure how far the others move.",
    "rank agreement": "Whether two lists put the same words first: Spearman’s ρ, 1 for the same "
    "order, 0 for orders that have nothing in common, −1 for the opposite one.",
    "layer norm": "Each vector is stretched to a fixed length, then each dimension gets a learned "
    "factor. The full norm also moves the mean to 0 and adds a learned number; RMS norm, as in "
    "SmolLM2, does not.",
}
