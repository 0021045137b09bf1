"""The bare page: one text box and one component, nothing else; what visitors cost at the least."""

import gc

import streamlit as st

echo = st.components.v2.component(
    "bare_echo", js="export default ({ data, parentElement }) => (parentElement.textContent = data)"
)


@st.cache_resource
def settle() -> None:
    """Keep everything imported so far out of the garbage collection that follows every rerun."""
    gc.collect()
    gc.freeze()


settle()
echo(data=st.text_input("Sentence", key="s"), key="echo")
