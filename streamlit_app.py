"""The app: `streamlit run streamlit_app.py`."""

from streamlit.starlette import App

from attention.app import frame, server

if __name__ == "__main__":  # run for a visitor
    frame.run()
else:  # imported once, by the server
    app = App(__file__, middleware=server.MIDDLEWARE)
