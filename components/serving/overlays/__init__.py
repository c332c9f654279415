"""Values of the serving layer that differ by cloud: one module a cloud, each with the same names."""
