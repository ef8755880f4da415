"""The webservice: what people, gadgets and tools get from Weboid over HTTP (W).

One law: no answer holds anything from outside that was not escaped for its format.
"""
