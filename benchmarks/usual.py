"""The usual: the page most people would write to look at attention weights.

A sentence, a mask, one px.imshow with the tokens on its axes; nothing is cached or tuned. Where
the tokens do not all fit, Plotly labels every k-th one by itself.
"""

import math
from itertools import cycle, islice

import plotly.express as px
import streamlit as st
import torch

TEXT = "the old dog saw a small cat under that tree and ran to it as fast as he could"
WIDTH = 50

n = int(st.query_params.get("n", 16))
sentence = st.text_input("Sentence", " ".join(islice(cycle(TEXT.split()), n)))
mask = st.segmented_control("Mask", ["none", "causal"], default="none")

words = sentence.split()
tokens = [f"{i} {word}" for i, word in enumerate(words)]
torch.manual_seed(0)
embeddings = torch.randn(len(words), WIDTH)
scores = embeddings @ embeddings.T / math.sqrt(WIDTH)
if mask == "causal":
    scores = scores.masked_fill(torch.ones(len(words), len(words)).triu(1).bool(), -math.inf)
weights = torch.softmax(scores, dim=-1)

st.plotly_chart(px.imshow(weights.numpy(), x=tokens, y=tokens))
