-- The wiki whose page had the last use of an orphan: its passes alone decide when the URL may expire (U-8).
ALTER TABLE url ADD COLUMN orphaned_by integer;
