-- What the operator has configured of a wiki's rules (U-11), JSON with parts of its settings page; NULL = nothing.
ALTER TABLE wiki_settings ADD COLUMN configured text;
