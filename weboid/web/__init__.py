"""The webservice: pages and data for people, gadgets and tools over HTTP (W).

One law: no answer holds anything from outside that was not escaped for its format
(`test_nothing_hostile_gets_out_of_any_page_list_or_feed`).
"""
