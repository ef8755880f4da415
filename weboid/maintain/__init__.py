"""The floor `maintain`: what has to be done now and then, whoever feeds, crawls and answers meanwhile (O-6)."""
