"""The webservice under loads that would hold all readers up if nothing kept them apart."""
