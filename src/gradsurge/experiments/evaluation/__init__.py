"""Measuring the calibration of any model's outputs, case by case, from files to results."""
