"""The app: `streamlit run streamlit_app.py`."""

from attention import subjects

subjects.declare_pages()

if __name__ == "__main__":  # as Streamlit runs it for each visitor
    from attention.app.shell import frame

    frame.run()
else:  # as Streamlit's server imports it once, before all visitors
    from streamlit.starlette import App

    from attention.app.shell import server

    app = App(__file__, **server.options())  # Streamlit looks for this very call
