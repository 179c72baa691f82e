"""Reports: figures and tables from results, never from models. The only place for matplotlib."""
