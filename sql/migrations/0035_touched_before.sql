-- The touch before, for exclusions (P-4, P-9): they take back that of their pass, so that an excluded page ages.
ALTER TABLE page ADD COLUMN touched_before smallint NOT NULL DEFAULT 0;
