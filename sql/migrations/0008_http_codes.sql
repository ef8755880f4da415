-- The exact HTTP code of the newest check: 0 = it got none, NULL = it was not kept (checks of before this migration).

ALTER TABLE url ADD COLUMN http smallint;
