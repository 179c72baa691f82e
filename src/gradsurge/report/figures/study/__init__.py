"""Figures of a study's records: the evidence."""
