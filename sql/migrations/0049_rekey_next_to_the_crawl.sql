-- True while URLs of some domains are still at the keys of an earlier suffix list; programs run meanwhile.
ALTER TABLE key_form ADD COLUMN moving boolean NOT NULL DEFAULT false;
