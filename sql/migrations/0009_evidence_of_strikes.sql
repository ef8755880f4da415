-- What strikes prove: their width without gaps, how many say that the page is missing, hours, weekdays (U-7).

ALTER TABLE host ADD COLUMN evidence integer;
ALTER TABLE url ADD COLUMN evidence integer;
-- What was proven by the old rule (three strikes over 14 days) stays proven: all evidence. Other rows keep their strikes
-- and prove themselves anew.
UPDATE host SET evidence = 16777091 WHERE strikes >= 3 AND failing_until - failing_since >= 14;
UPDATE url SET evidence = 16777091 WHERE strikes >= 3 AND failing_until - failing_since >= 14;
UPDATE host SET evidence = 0 WHERE strikes > 0 AND evidence IS NULL;
UPDATE url SET evidence = 0 WHERE strikes > 0 AND evidence IS NULL;
