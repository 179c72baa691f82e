"""One figure a file: ``compute()`` returns its data, ``draw(data)`` the figure."""
