"""All that answers behaviours of Streamlit: see docs/upstream.md, which says when each can go."""
