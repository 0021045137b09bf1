"""The usual: the page most people would write to look at attention weights.

A sentence, a mask, one px.imshow with every token as a label; nothing is cached or tuned. The
labels are set by position, since px.imshow lays the rows of a repeated word over each other.
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

tokens = sentence.split()
torch.manual_seed(0)
embeddings = torch.randn(len(tokens), WIDTH)
scores = embeddings @ embeddings.T / math.sqrt(WIDTH)
if mask == "causal":
    scores = scores.masked_fill(torch.ones(len(tokens), len(tokens)).triu(1).bool(), -math.inf)
weights = torch.softmax(scores, dim=-1)

figure = px.imshow(weights.numpy())
figure.update_xaxes(tickvals=list(range(len(tokens))), ticktext=tokens)
figure.update_yaxes(tickvals=list(range(len(tokens))), ticktext=tokens)
st.plotly_chart(figure)
