"""Browser components: a typed declaration of each; its ES module and style stand in `browser`."""
