-- Errors of repairs that people report (B-6, H-4): whose report it is, "" = stated by the operator of a bot.
ALTER TABLE revert ADD COLUMN subject text NOT NULL DEFAULT '';
CREATE INDEX revert_subject ON revert (subject) WHERE subject <> '';
