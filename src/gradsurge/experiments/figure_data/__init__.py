"""What figures show of runs, cases and studies, computed here: drawing never touches a model."""
