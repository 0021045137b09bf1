"""The app: `streamlit run streamlit_app.py`."""

from attention.app import frame

frame.run()
