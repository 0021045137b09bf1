"""Settings in force: pages, names in links, a visit, and the one `View` of a run."""
