"""Maintenance: what has to be done once a day or a week, while feeder, crawler and webservice go on (O-6)."""
