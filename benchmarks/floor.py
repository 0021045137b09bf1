"""The floor: the least a Streamlit page can do to show attention weights after a click.

One control, one softmax, one component that paints the weights on one canvas. Nothing else is on
the page, so its click-to-painted time is Streamlit's own cost plus the browser's: no page that
answers a click in Python can be expected to be faster.

The canvas counts its paintings in ``data-version``, by which the harness sees them. With
``?elements=`` so many plain elements of Streamlit's stand around it, which nothing changes: what
it takes longer then is what elements cost, whatever they show.
"""

import gc
import math

import streamlit as st
import torch

WIDTH = 50

PAINT = """
const RAMP = new Uint32Array(256);
for (let i = 0; i < 256; i++) {
  RAMP[i] = (0xff << 24) | ((255 - (i >> 2)) << 16) | ((255 - (i >> 1)) << 8) | (255 - i);
}

export default function ({ data, parentElement }) {
  const canvas = parentElement.querySelector("canvas");
  const weights = new Float32Array(data.slice().buffer);
  const n = Math.sqrt(weights.length);
  let greatest = 0;
  for (const weight of weights) if (weight > greatest) greatest = weight;
  const pixels = new Uint32Array(weights.length);
  for (let i = 0; i < pixels.length; i++) pixels[i] = RAMP[(255 * weights[i]) / greatest | 0];
  if (canvas.width !== n) canvas.width = canvas.height = n;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), n, n);
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.dataset.version = Number(canvas.dataset.version || 0) + 1;
}
"""


@st.cache_resource
def settle() -> None:
    """Keep everything imported so far out of the garbage collection that follows every rerun.

    One thread: to start others for a softmax takes more than twice the CPU time.
    """
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


def attention(n: int, causal: bool) -> torch.Tensor:
    """Weights of n seeded random vectors attending to each other, (n, n) float32."""
    x = torch.randn(n, WIDTH, generator=torch.Generator().manual_seed(0))
    scores = x @ x.T / math.sqrt(WIDTH)
    if causal:
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
    return scores.softmax(-1)


canvas = st.components.v2.component(
    "floor_canvas",
    html="<canvas></canvas>",
    css="canvas { width: 600px; height: 600px; image-rendering: pixelated; }",
    js=PAINT,
    isolate_styles=False,
)

settle()
mask = st.segmented_control("Mask", ["none", "causal"], default="none")
weights = attention(int(st.query_params.get("n", 16)), mask == "causal")
canvas(key="weights", data=weights.numpy().tobytes())
for index in range(int(st.query_params.get("elements", 0))):
    match index % 4:
        case 0:
            st.sidebar.selectbox(f"Choice {index}", ["one", "another"])
        case 1:
            st.sidebar.slider(f"Number {index}", 0, 10)
        case _:
            st.html(f"<p>Words {index}</p>")
