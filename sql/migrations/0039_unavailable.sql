-- What answers nothing but a bare 503 is never called dead (reason 67, core/record/reasons.py); it is counted.
CREATE INDEX url_unavailable ON url (since) WHERE reason = 67;
