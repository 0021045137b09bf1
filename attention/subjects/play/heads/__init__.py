"""All heads of a layer in rows or small maps, measures that sort them, and what each adds."""
