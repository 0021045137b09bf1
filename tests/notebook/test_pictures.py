"""Pictures and spectrograms whose patches are keys: the weights laid over them, and where."""

from __future__ import annotations

import html
import io
import re

import numpy
import pytest
import torch
from PIL import Image

import attention
from attention.figures.image_patches import MOST_PIXELS, Patches, find_patches, pixels_of, png, see
from attention.notebook.heads import MEAN, First, Pictured, heads_of
from tests.capture.families import FAMILIES, LLAVA, PICTURE, TEXT, Family, picture
from tests.capture.making import OwnAttention, inputs, model

IDS = LLAVA.inputs()["input_ids"][0]
VISION = {  # with the number of tokens before the patches
    "ViT": (FAMILIES["ViT"], 1),
    "DINOv2 with registers": (
        Family("Dinov2WithRegistersConfig", PICTURE | {"num_register_tokens": 4}, picture),
        5,
    ),
    "CLIP": (Family("CLIPVisionConfig", PICTURE, picture), 1),
}
PHOTO = numpy.random.default_rng(5).integers(0, 256, (13, 17, 3), numpy.uint8)


def captured(family: Family):
    with torch.no_grad(), family.told(), attention.capture() as run:
        family.build()(**family.inputs())
    return run


@pytest.mark.parametrize("name", VISION)
def test_weights_over_a_picture_are_those_of_eager_attention(name):
    family, first = VISION[name]
    run, eager = captured(family), family.eager_weights()
    heads, chosen = heads_of(run, None, None, 1, First(), Pictured(PHOTO))
    assert chosen == (1, MEAN, 0), "the last layer, all heads, the class token"
    assert heads.sight.patches == Patches(3, 3, first)
    expected = eager[1][1].mean(0)
    torch.testing.assert_close(heads.weights(1, MEAN), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(heads.weights(0, 2, 7)[0], eager[0][1, 2, 7], atol=1e-5, rtol=0)
    row, column = divmod(int(expected[0, first:].argmax()), 3)
    told = run.show(image=PHOTO, entry=1)._repr_html_()
    assert f"most at row {row + 1}, column {column + 1} ({expected[0, first:].max():.4f})" in told


def test_the_tokens_of_a_text_ask_the_patches_among_them():
    run, expected = captured(LLAVA), LLAVA.eager_weights()[1][1].mean(0)[13]
    tokens = [f"t{one}" for one in IDS.tolist()]
    for patches in (None, Patches(3, 3, 3), IDS == 52):
        heads, chosen = heads_of(run, tokens, None, 1, First(), Pictured(PHOTO, None, patches))
        assert chosen == (3, MEAN, 13), "the last token asks"
        assert heads.sight.patches == Patches(3, 3, 3)
        torch.testing.assert_close(heads.weights(3, MEAN, 13)[0], expected, atol=1e-5, rtol=0)


def test_a_spoken_text_asks_stretches_of_the_sound():
    family = FAMILIES["Whisper"]
    run, mel = captured(family), family.inputs()["input_features"][1]
    tokens = [f"t{one}" for one in TEXT[1].tolist()]
    heads, (layer, head, query) = heads_of(run, tokens, None, 1, First(), Pictured(None, mel))
    assert (head, query, heads.sight.patches) == (MEAN, 8, Patches(1, 11, 0))
    last = family.eager_weights()[-1][1]
    torch.testing.assert_close(heads.weights(layer, MEAN), last.mean(0), atol=1e-5, rtol=0)
    low, high = (heads.sight.pixels[row, :, 0] for row in (-1, 0))
    assert (low.argmin(), high.argmin()) == (mel[0].argmax(), mel[-1].argmax()), "low sounds below"
    told = run.show(tokens, sound=mel, entry=1)._repr_html_()
    assert f"most at stretch {int(last.mean(0)[8].argmax()) + 1} " in told


NO_PATCHES = [
    (201, Patches(14, 14), None, r"expected 1 \+ 14 × 14 tokens, got 201"),
    (215, None, None, r"as 1 \+ 14 × 14 tokens, got 215: name the grid, as patches=Patches\("),
    (7, None, [*"abxxxxx"], "expected a square of patches, got 5"),
    (7, None, [*"xxaxxbc"], "must follow each other, got 2 stretches, from 0, 3 on"),
    (3, torch.tensor([False] * 3), [*"abc"], "got 0 stretches, from nowhere on"),
]
NO_PICTURES = [
    (torch.randn(3, 5, 7), r"numbers from 0 to 1, as before a processor .* from -"),
    (numpy.zeros((5, 7)), r"got ndarray of \(5, 7\)"),
    (numpy.full((5, 7, 3), numpy.nan), "got NaN or ∞"),
    ("<b>cat.png</b>", r"of finite numbers, got str"),
]


def test_patches_that_do_not_fit_the_tokens_and_other_things_than_pictures_are_told():
    for *given, words in NO_PATCHES:
        with pytest.raises(ValueError, match=words):
            find_patches(*given)
    for image, words in NO_PICTURES:
        with pytest.raises(ValueError, match=words):
            pixels_of(image)
    with pytest.raises(ValueError, match=r"with a multiple of 11 frames, .* got \(8, 23\)"):
        see(None, torch.zeros(8, 23), 11)
    with pytest.raises(ValueError, match=r"a recording of attention.capture\(\), got Tensor"):
        attention.show(torch.eye(3), list("abc"), image=PHOTO)


def test_a_picture_is_the_same_whatever_holds_it_and_is_kept_as_png():
    tensor = torch.from_numpy(PHOTO).permute(2, 0, 1)
    for image in (PHOTO, Image.fromarray(PHOTO), tensor, tensor / 255, PHOTO / 255):
        numpy.testing.assert_array_equal(pixels_of(image), PHOTO)
    numpy.testing.assert_array_equal(numpy.asarray(Image.open(io.BytesIO(png(PHOTO)))), PHOTO)
    large = pixels_of(numpy.repeat(PHOTO[:, :1], 2 * MOST_PIXELS + 1, 1))
    assert large.shape == (13, 683, 3)
    assert (large == PHOTO[:, :1]).all()


def test_a_still_picture_has_hostile_names_as_text_and_no_script():
    with attention.capture() as run:
        model(OwnAttention())(inputs(1, 10))
    tokens = ["<script>alert(1)</script>", *(f"patch{at}" for at in range(9))]
    for chosen in ({"head": 1}, {"query": 4}):
        still = run.show(tokens, image=PHOTO, **chosen)._repr_html_()
        assert {*re.findall(r"<(\w+)", still)} == {"figure", "img", "figcaption"}
    asking = run.show(tokens, image=PHOTO)._repr_html_()
    assert html.escape(f"“{tokens[0]}” (0) looks at each patch") in asking
