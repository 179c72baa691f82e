"""Trained runs at work: from images to probability maps and masks on the images' own grids."""
