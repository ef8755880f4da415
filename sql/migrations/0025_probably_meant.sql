-- The URL that was probably meant by a failing one with a typical error, if it worked when it was looked at (L-9).
ALTER TABLE url ADD COLUMN meant text;
