"""Proximal method of multipliers with Newton's method inside: few systems over the free samples, products of K."""
