"""A graph store for graphport, as a third party writes it."""
